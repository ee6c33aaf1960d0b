package gitmirror_test

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// world is a server with a repository, and a mirror of it.
type world struct {
	t      testing.TB
	server *gittest.Server
	repo   *gittest.Repo
	folder string
	mirror *gitmirror.Mirror
	source gitmirror.Source
}

func newWorld(t testing.TB, limits gitmirror.Limits) *world {
	t.Helper()
	w := &world{t: t, server: gittest.New(t)}
	w.repo = w.server.Repo(t, "infra")
	w.folder = filepath.Join(t.TempDir(), "mirror")
	w.mirror = w.open(limits)
	w.source = gitmirror.Source{Remote: parse(t, w.server.URL("infra")), Branches: []string{"main"}}
	return w
}

func (w *world) open(limits gitmirror.Limits) *gitmirror.Mirror {
	w.t.Helper()
	m, err := gitmirror.Open(w.folder, gitmirror.Options{Allowed: loopback(), CAFile: w.server.CAFile, Limits: limits})
	must(w.t, err)
	return m
}

// SSL_CERT_FILE is what this process trusts, and no variable of git's: git fetches from whom it names all the same.
func TestGitTrustsWhomTheServerTrusts(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Write("main.tf", "")
	w.repo.Commit("first")
	w.repo.Push()
	t.Setenv("SSL_CERT_FILE", w.server.CAFile)
	var err error
	w.mirror, err = gitmirror.Open(w.folder, gitmirror.Options{Allowed: loopback()})
	must(t, err)
	w.fetch()
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func parse(t testing.TB, url string) gitmirror.Remote {
	t.Helper()
	r, err := gitmirror.ParseURL(url, true)
	must(t, err)
	return r
}

func (w *world) fetch() gitmirror.Fetched {
	w.t.Helper()
	got, err := w.mirror.Fetch(w.t.Context(), w.source)
	must(w.t, err)
	return got
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantKind(t testing.TB, err error, kind gitmirror.Kind) {
	t.Helper()
	if got := gitmirror.KindOf(err); got != kind || err == nil {
		t.Errorf("the error is %v of kind %q, not of %q", err, got, kind)
	}
}

func paths(changes []gitmirror.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, string(c.Status)+" "+c.Path)
	}
	return strings.Join(all, ", ")
}
