package sqltext_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgadvisory/pgadvisory/analyzer/internal/sqltext"
)

// procedure renders a call with what its arguments decide.
func procedure(c sqltext.Call) string {
	s := fmt.Sprintf("%s %v %v", name(c), c.Scope, c.Answer)
	if c.Shared {
		s += " shared"
	}
	return s
}

func TestProcedures(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		// SQL Server.
		{"EXEC sp_getapplock @Resource = @p1, @LockMode = 'Update', @LockOwner = 'Session', @LockTimeout = -1",
			[]string{"sp_getapplock(@p1, 'Update', 'Session', -1) session status"}},
		{"exec sp_releaseapplock @Resource = @p1, @LockOwner = 'Session'", []string{"sp_releaseapplock(@p1, 'Session') session status"}},
		{"EXECUTE sys.sp_getapplock 'a', 'Exclusive'", []string{"sp_getapplock('a', 'Exclusive') transaction status"}},
		{"EXEC master..sp_getapplock @LockMode = 'Shared', @Resource = 'a', @LockOwner = N'session'",
			[]string{"sp_getapplock('a', 'Shared', 'session') session status shared"}},
		{"EXEC [master].[dbo].[sp_getapplock] @Resource='a', @LockMode='Exclusive', @LockOwner='Transaction'",
			[]string{"sp_getapplock('a', 'Exclusive', 'Transaction') transaction status"}},
		{"EXEC sp_getapplock @Resource = 'a', @LockMode = 'Exclusive', @LockOwner = @owner",
			[]string{"sp_getapplock('a', 'Exclusive', @owner) unknown status"}},
		{"EXEC sp_getapplock @Resource = 'a', @LockMode = 'Exclusive', @LockOwner = " + hole,
			[]string{"sp_getapplock('a', 'Exclusive', " + hole + ") unknown status"}},
		{"sp_getapplock", []string{"sp_getapplock unknown status"}},
		{"sp_releaseapplock @Resource = 'a'", []string{"sp_releaseapplock('a') transaction status"}},
		{"{call sp_getapplock(?, 'IntentShared', ?)}", []string{"sp_getapplock(?, 'IntentShared', ?) unknown status shared"}},
		{"{? = call sp_getapplock(?, 'Exclusive')}", []string{"sp_getapplock(?, 'Exclusive') transaction consumed"}},
		{"{call sp_releaseapplock}", []string{"sp_releaseapplock unknown status"}},
		{"EXEC sp_getapplock @name OUTPUT, 'Exclusive'", []string{"sp_getapplock(@name, 'Exclusive') transaction status"}},
		{"DECLARE @r int; CREATE TABLE #t (id int); EXEC sp_releaseapplock 'a'; CREATE INDEX i ON #t (id)",
			[]string{"sp_releaseapplock('a') transaction status"}},
		{"CALL sp_releaseapplock('a', 'Session')", []string{"sp_releaseapplock('a', 'Session') session status"}},
		{"DECLARE @r INT EXEC @r = sp_getapplock 'a', 'Exclusive' SELECT @r", []string{"sp_getapplock('a', 'Exclusive') transaction consumed"}},
		{`DECLARE @r int;
			BEGIN TRAN
			EXEC @r = sp_getapplock @Resource = 'a', @LockMode = 'Exclusive', @LockTimeout = 0
			IF @r < 0
			BEGIN
				ROLLBACK TRAN
				RAISERROR('no lock', 16, 1)
			END
			ELSE
			BEGIN
				UPDATE [seats] SET [free] = CASE WHEN [free] = 1 THEN 0 ELSE 1 END WHERE [id] = 1
				EXEC sp_releaseapplock @Resource = 'a'
				COMMIT TRAN
			END`,
			[]string{
				"sp_getapplock('a', 'Exclusive', , 0) transaction consumed",
				"sp_releaseapplock('a') transaction status",
			}},
		{"CREATE PROCEDURE p AS EXEC sp_getapplock 'a', 'Exclusive'; EXEC sp_releaseapplock 'a'\nGO\nEXEC sp_getapplock 'b', 'Exclusive'",
			[]string{"sp_getapplock('b', 'Exclusive') transaction status"}},
		{"EXEC app.sp_getapplock 'a'", nil},
		{"SELECT sp_getapplock FROM t", nil},
		{"EXEC other -- sp_getapplock", nil},
		{"INSERT INTO log EXEC other 'sp_getapplock'", nil},

		// Oracle.
		{"BEGIN :r := DBMS_LOCK.REQUEST(id => 1, lockmode => DBMS_LOCK.X_MODE, timeout => 0, release_on_commit => TRUE); END;",
			[]string{"DBMS_LOCK.REQUEST(1, dbms_lock.x_mode, 0, true) transaction consumed"}},
		{"begin :1 := sys.dbms_lock.request(:2, 6, 10); end;", []string{"DBMS_LOCK.REQUEST(:2, 6, 10) session consumed"}},
		{`DECLARE
			h VARCHAR2(128);
			r INTEGER;
		BEGIN
			DBMS_LOCK.ALLOCATE_UNIQUE('a', h);
			r := DBMS_LOCK.REQUEST(lockhandle => h, release_on_commit => :roc, lockmode => DBMS_LOCK.S_MODE);
			IF DBMS_LOCK.RELEASE(h) <> 0 THEN
				raise_application_error(-20000, 'x');
			END IF;
		END;`,
			[]string{
				"DBMS_LOCK.REQUEST(h, dbms_lock.s_mode, , :roc) unknown consumed shared",
				"DBMS_LOCK.RELEASE(h) session consumed",
			}},
		{"CALL DBMS_LOCK.REQUEST(1) INTO :r", []string{"DBMS_LOCK.REQUEST(1) session consumed"}},
		{"CALL DBMS_LOCK.RELEASE(1)", []string{"DBMS_LOCK.RELEASE(1) session dropped"}},
		{"SELECT DBMS_LOCK.REQUEST(1, 4) FROM dual", []string{"DBMS_LOCK.REQUEST(1, 4) session returned shared"}},
		{"BEGIN DBMS_LOCK.SLEEP(1); app.dbms_lock.request(1); END;", nil},
		{"CREATE PROCEDURE p IS r INTEGER; BEGIN r := DBMS_LOCK.REQUEST(1); END; ", nil},
	} {
		t.Run(tt.sql, func(t *testing.T) {
			var got []string
			for _, st := range sqltext.Parse(tt.sql) {
				for _, c := range st.Calls {
					got = append(got, procedure(c))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBatchStatements(t *testing.T) {
	const batch = `SET NOCOUNT ON
		DECLARE @r int = 0
		BEGIN TRAN
		SAVE TRAN s
		EXEC @r = sp_getapplock 'a', 'Exclusive'
		IF @r < 0 ROLLBACK TRAN
		INSERT INTO log SELECT 1
		COMMIT
		GO
		PRINT 'done'`
	checkFacts(t, batch, []string{
		"SET", "DECLARE", "BEGIN {begin}", "SAVE {savepoint}", "EXEC", "IF", "ROLLBACK {rollback}", "INSERT writes",
		"COMMIT {commit}", "PRINT",
	})
}
