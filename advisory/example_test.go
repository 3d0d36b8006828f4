package advisory_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
)

// exampleDB opens a pool on the test server, prepares tables there, and returns a function that drops them.
func exampleDB(create string, tables string) (*sql.DB, func()) {
	db, err := sql.Open("pgx", server.DSN())
	if err != nil {
		panic(err)
	}
	if _, err := db.Exec(create); err != nil {
		panic(err)
	}
	return db, func() {
		if _, err := db.Exec("DROP TABLE " + tables); err != nil {
			panic(err)
		}
		db.Close()
	}
}

// Two workers sell the last apple. Without the lock both would read 1 and write 0.
func ExampleDo_lostUpdate() {
	db, drop := exampleDB("CREATE TABLE stock (item text, n int); INSERT INTO stock VALUES ('apple', 1)", "stock")
	defer drop()
	ctx := context.Background()

	errSoldOut := errors.New("sold out")
	sell := func(item string) error {
		return advisory.Do(ctx, db, advisory.Name("stock", item), func(ctx context.Context, tx *sql.Tx) error {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT n FROM stock WHERE item = $1", item).Scan(&n); err != nil {
				return err
			}
			if n == 0 {
				return errSoldOut
			}
			_, err := tx.ExecContext(ctx, "UPDATE stock SET n = $2 WHERE item = $1", item, n-1)
			return err
		})
	}

	results := make(chan error, 2)
	for range 2 {
		go func() { results <- sell("apple") }()
	}
	fmt.Println(errors.Join(<-results, <-results))
	// Output: sold out
}

// A job that every server starts at the same minute, and that only one of them runs.
func ExampleTryDo_cron() {
	db, drop := exampleDB("CREATE TABLE reports (at timestamptz)", "reports")
	defer drop()
	ctx := context.Background()

	begun, finish := make(chan struct{}), make(chan struct{})
	var servers sync.WaitGroup
	servers.Go(func() {
		ran, err := advisory.TryDo(ctx, db, advisory.Name("cron", "report"), func(ctx context.Context, tx *sql.Tx) error {
			close(begun)
			<-finish // a long report
			_, err := tx.ExecContext(ctx, "INSERT INTO reports VALUES (now())")
			return err
		})
		fmt.Println("first server ran the job:", ran, err)
	})

	<-begun
	ran, err := advisory.TryDo(ctx, db, advisory.Name("cron", "report"), func(context.Context, *sql.Tx) error {
		panic("never runs")
	})
	fmt.Println("second server ran the job:", ran, err)
	close(finish)
	servers.Wait()
	// Output:
	// second server ran the job: false <nil>
	// first server ran the job: true <nil>
}

// Transfers in both directions at once: LockAll takes the keys of both accounts in one order, so they never deadlock.
func ExampleLockAll_transfer() {
	db, drop := exampleDB("CREATE TABLE accounts (id bigint, cents int); INSERT INTO accounts VALUES (1, 1000), (2, 1000)", "accounts")
	defer drop()
	ctx := context.Background()

	transfer := func(from, to int64, cents int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := advisory.LockAll(ctx, tx, []advisory.Key{advisory.ID(from), advisory.ID(to)}); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET cents = cents - $2 WHERE id = $1", from, cents); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET cents = cents + $2 WHERE id = $1", to, cents); err != nil {
			return err
		}
		return tx.Commit()
	}

	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			var err error
			if i%2 == 0 {
				err = transfer(1, 2, 10)
			} else {
				err = transfer(2, 1, 11)
			}
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	group.Wait()

	var one, two int
	db.QueryRowContext(ctx, "SELECT min(cents), max(cents) FROM accounts").Scan(&one, &two)
	fmt.Println(one, two)
	// Output: 990 1010
}

// A webhook is delivered twice. The lock is on the delivery's own number, so that the second finds the first one's row, also while the first is still at work.
func ExampleDo_idempotentInsert() {
	db, drop := exampleDB("CREATE TABLE payments (delivery text, cents int)", "payments")
	defer drop()
	ctx := context.Background()

	receive := func(delivery string, cents int) (fresh bool, err error) {
		err = advisory.Do(ctx, db, advisory.Name("payment", delivery), func(ctx context.Context, tx *sql.Tx) error {
			var known bool
			err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM payments WHERE delivery = $1)", delivery).Scan(&known)
			if err != nil || known {
				return err
			}
			// What must not be done twice before the insert has its place here.
			fresh = true
			_, err = tx.ExecContext(ctx, "INSERT INTO payments VALUES ($1, $2)", delivery, cents)
			return err
		})
		return fresh && err == nil, err
	}

	for range 2 {
		fresh, err := receive("evt_17", 4200)
		fmt.Println(fresh, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// A lock that is not granted in time is an error of its own, which says where to look.
func ExampleTimeout() {
	db, drop := exampleDB("CREATE TABLE nothing ()", "nothing")
	defer drop()
	ctx := context.Background()

	holder, _ := db.BeginTx(ctx, nil)
	defer holder.Rollback()
	if err := advisory.Lock(ctx, holder, advisory.ID(42)); err != nil {
		fmt.Println(err)
	}

	tx, _ := db.BeginTx(ctx, nil)
	defer tx.Rollback()
	err := advisory.Lock(ctx, tx, advisory.ID(42), advisory.Timeout(50*time.Millisecond))
	fmt.Println(errors.Is(err, advisory.ErrTimeout))
	fmt.Println(err)
	// Output:
	// true
	// advisory: lock was not granted in time: Lock 42: find its holder in pg_locks, or allow more time: ERROR: canceling statement due to lock timeout (SQLSTATE 55P03)
}

// Shared holders do not exclude each other; they keep an exclusive one out.
func ExampleShared() {
	db, drop := exampleDB("CREATE TABLE nothing ()", "nothing")
	defer drop()
	ctx := context.Background()
	key := advisory.Name("schema")

	reader, _ := db.BeginTx(ctx, nil)
	defer reader.Rollback()
	if err := advisory.Lock(ctx, reader, key, advisory.Shared()); err != nil {
		fmt.Println(err)
	}

	other, _ := db.BeginTx(ctx, nil)
	defer other.Rollback()
	fmt.Println(advisory.TryLock(ctx, other, key, advisory.Shared()))
	fmt.Println(advisory.TryLock(ctx, other, key))
	// Output:
	// true <nil>
	// false <nil>
}

// At REPEATABLE READ and above, Do takes the lock before the transaction's snapshot, so that it sees what the holder before it has committed.
func ExampleIsolation() {
	db, drop := exampleDB("CREATE TABLE counter (n int); INSERT INTO counter VALUES (0)", "counter")
	defer drop()
	ctx := context.Background()

	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			err := advisory.Do(ctx, db, advisory.Name("counter"), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE counter SET n = (SELECT n FROM counter) + 1")
				return err
			}, advisory.Isolation(sql.LevelRepeatableRead), advisory.Retry(3))
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	group.Wait()
	var n int
	db.QueryRowContext(ctx, "SELECT n FROM counter").Scan(&n)
	fmt.Println(n)
	// Output: 10
}

// Classes keep the kinds of things apart, and name them in logs.
func ExampleRegistry() {
	var classes advisory.Registry
	orders := classes.Space(1, "orders")
	users := classes.Space(2, "users")

	key := orders.Key(17)
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	log.Info("locked", "key", key, "label", classes.Label(key))
	fmt.Println(users.TextKey("alice"))
	// Output:
	// level=INFO msg=locked key=1:17 label=orders:17
	// 2:791529341
}

func ExampleParseKey() {
	for _, s := range []string{"-42", "7:-3", "invoice"} {
		key, err := advisory.ParseKey(s)
		fmt.Println(key, err)
	}
	// Output:
	// -42 <nil>
	// 7:-3 <nil>
	// 0 advisory: parse key "invoice": want a bigint such as -42 or a pair of integers such as 7:-3: strconv.ParseInt: parsing "invoice": invalid syntax
}

func ExampleName() {
	fmt.Println(advisory.Name("invoice", "2026", "17"))
	fmt.Println(advisory.Name("a", "bc") == advisory.Name("ab", "c"))
	// Output:
	// 5018137681025886414
	// false
}
