package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
)

// beside runs an export with the settings of a server that s has started.
func (s *shell) beside() { s.data = s.file + ".data" }

// An export beside a running server has what one without it has, and the server goes on.
func TestExportBesideAServer(t *testing.T) {
	s := newShell(t)
	s.must("init")
	s.beside()
	store := s.openCSV(s.data)
	upload(t, store, someReports()...)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	lines := [][]string{{"--all"}, {"--all", "--format", "ndjson"}, {"--org", someOrg},
		{"--org", globex.String(), "--format", "ndjson"}}
	var before []string
	for _, line := range lines {
		before = append(before, s.must(append([]string{"data", "export"}, line...)...))
	}
	// The folder has uploads, and no server has made its databases yet.
	r := s.startWith([]string{"serve", "--make-missing"})
	for i, line := range lines {
		if out := s.must(append([]string{"data", "export"}, line...)...); out != before[i] || out == "" {
			t.Errorf("%s: exported\n%s\nwant\n%s", line, out, before[i])
		}
	}
	if info, err := os.Stat(filepath.Join(s.data, "operator")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s.refuse(exitFailed, "another holdfast process holds", "data", "import", s.write("again.csv", before[0]))
	r.stop()
	r.wait()
	if out := s.must("data", "export", "--all"); out != before[0] {
		t.Errorf("afterwards it exported\n%s", out)
	}
}

// A socket that a server has left which was killed is in nobody's way.
func TestExportBesideALeftSocket(t *testing.T) {
	s := newShell(t)
	s.must("init")
	s.beside()
	r := s.start()
	r.stop()
	r.wait()
	path := filepath.Join(s.data, "operator", "socket")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(left.Addr().String(), path); err != nil {
		t.Fatal(err)
	}
	s.must("data", "export", "--all")
	s.start()
	s.must("data", "export", "--all")
}

// What a server breaks off is not taken for all, and leaves no file.
func TestExportThatBreaksOff(t *testing.T) {
	s := newShell(t)
	path := server.OperatorSocket(configs.Settings{Storage: configs.Storage{Path: s.data}})
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	fake := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == server.OperatorOrganizations {
			_, _ = w.Write([]byte(someOrg + "\n"))
			return
		}
		_, _ = w.Write([]byte(strings.Repeat(webOne, 3)))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})}
	go func() { _ = fake.Serve(listener) }()
	t.Cleanup(func() { _ = fake.Close() })
	file := filepath.Join(t.TempDir(), "all.csv")
	s.refuse(exitFailed, "the server that runs here broke its answer off", "data", "export", "--all", "-o", file)
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was left that is not whole")
	}
}
