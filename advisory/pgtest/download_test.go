//go:build unix

package pgtest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgadvisory/pgadvisory/advisory/pgtest"
)

func TestDownload(t *testing.T) {
	needOwn(t)
	bin := shared.Bin()
	noLocalBinaries(t)
	t.Setenv("HOME", t.TempDir())
	tmp := emptyTempDir(t)

	jar := jarOf(t, bin)
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			sum := sha256.Sum256(jar)
			fmt.Fprint(w, hex.EncodeToString(sum[:]))
			return
		}
		w.Write(jar)
	}))
	defer repository.Close()
	pgtest.DownloadFrom(t, repository.URL)

	r := runTest(func(tb testing.TB) {
		srv := pgtest.Start(tb)
		ask[int](t, srv.Open(tb, "pgx"), "SELECT 1")
		if !strings.HasPrefix(srv.Bin(), srv.Dir()) {
			t.Errorf("the server comes from %s, want what was downloaded into %s", srv.Bin(), srv.Dir())
		}
	})
	if r.failed {
		t.Fatal(r.text)
	}
	assertEmpty(t, tmp)
}

func TestDownloadFails(t *testing.T) {
	needOwn(t)
	noLocalBinaries(t)
	tmp := emptyTempDir(t)
	t.Setenv("HOME", "/nonexistent/home")
	repository := httptest.NewServer(http.NotFoundHandler())
	defer repository.Close()
	pgtest.DownloadFrom(t, repository.URL)
	_, err := pgtest.New(t.Context())
	if err == nil {
		t.Fatal("New succeeded")
	}
	for _, want := range []string{"no PostgreSQL on this machine", "ADVISORY_TEST_PG", "ADVISORY_TEST_DSN", "no version found"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want %q in it", err, want)
		}
	}
	assertEmpty(t, tmp)
}

func TestDownloadIsBoundByItsContext(t *testing.T) {
	needOwn(t)
	noLocalBinaries(t)
	tmp := emptyTempDir(t)
	t.Setenv("HOME", "/nonexistent/home")
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-end
	}))
	defer repository.Close()
	pgtest.DownloadFrom(t, repository.URL)
	if _, err := pgtest.New(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("New: %v, want that ctx is done", err)
	}
	close(end)
	eventually(t, func() bool {
		entries, err := os.ReadDir(tmp)
		return err == nil && len(entries) == 0
	})
}

func noLocalBinaries(t *testing.T) {
	t.Helper()
	t.Setenv("ADVISORY_TEST_PG", "")
	t.Setenv("PATH", "")
	pgtest.Places(t)
}

// jarOf makes an archive like those of the repository, whose programs run those in bin.
func jarOf(t *testing.T, bin string) []byte {
	t.Helper()
	var files bytes.Buffer
	tw := tar.NewWriter(&files)
	for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
		script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", filepath.Join(bin, name))
		if err := tw.WriteHeader(&tar.Header{Name: "bin/" + name, Mode: 0o755, Size: int64(len(script))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(script)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}

	var jar bytes.Buffer
	zw := zip.NewWriter(&jar)
	w, err := zw.Create("postgres.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(stored(files.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return jar.Bytes()
}

// stored puts at most 64 KiB into the .xz format without compressing it: a stream
// of one block with one LZMA2 chunk that is stored, and no check
// (The .xz File Format 1.2.1).
func stored(content []byte) []byte {
	if len(content) > 1<<16 {
		panic("too long for one chunk")
	}
	sum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	pad := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
	flags := []byte{0, 0}

	block := []byte{2, 0, 0x21, 1, 0, 0, 0, 0} // 12 bytes with its sum; one filter, LZMA2, 4 KiB dictionary
	block = append(block, sum(block)...)
	block = append(block, 1) // a stored chunk
	block = binary.BigEndian.AppendUint16(block, uint16(len(content)-1))
	block = append(append(block, content...), 0)

	index := binary.AppendUvarint([]byte{0, 1}, uint64(len(block)))
	index = pad(binary.AppendUvarint(index, uint64(len(content))))
	index = append(index, sum(index)...)

	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	return bytes.Join([][]byte{
		{0xFD, '7', 'z', 'X', 'Z', 0}, flags, sum(flags),
		pad(block), index, sum(footer), footer, {'Y', 'Z'},
	}, nil)
}
