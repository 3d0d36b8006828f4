package cron_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/pgadvisory/pgadvisory/advisory"
	"github.com/pgadvisory/pgadvisory/advisory/cron"
)

// node is a process of its own with the same schedule, started by startNode.
func node() int {
	db, err := sql.Open(os.Getenv("CRON_DRIVER"), os.Getenv("CRON_DSN"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer db.Close()
	ctx := context.Background()
	switch mode := os.Getenv("CRON_NODE"); mode {
	case "hang":
		_, err = cron.Once(ctx, db, "job", noon, func(ctx context.Context, tx *sql.Tx) error {
			if err := insert(noon, "hung")(ctx, tx); err != nil {
				return err
			}
			return hang()
		})
	case "hang leased":
		locker := advisory.NewLocker(db)
		defer locker.Close()
		_, err = cron.OnceLeased(ctx, locker, db, "job", noon, func(context.Context, *advisory.Lease) error { return hang() })
	default:
		var ticks int
		if ticks, err = strconv.Atoi(mode); err == nil {
			err = migrateAndTick(ctx, db, ticks)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// hang says that the job is running, and goes on until the process is killed, or its parent is gone.
func hang() error {
	fmt.Println("running")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func migrateAndTick(ctx context.Context, db *sql.DB, ticks int) error {
	if err := cron.Migrate(ctx, db); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for i := range ticks {
		tick := noon.Add(time.Duration(i) * time.Minute)
		if _, err := cron.Once(ctx, db, "job", tick, insert(tick, strconv.Itoa(os.Getpid()))); err != nil {
			return err
		}
	}
	return nil
}

type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// startNode starts a node, which says with its first line that it is where it should be.
func startNode(t testing.TB, mode, driver, dsn string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CRON_NODE="+mode, "CRON_DRIVER="+driver, "CRON_DSN="+dsn)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	t.Cleanup(func() { p.kill() })
	return p
}

// await returns when the process has written its first line.
func (p *process) await(t testing.TB) {
	t.Helper()
	if _, err := p.stdout.ReadString('\n'); err != nil {
		t.Fatalf("the node did not start: %v", err)
	}
}

// kill ends the process with SIGKILL.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}
