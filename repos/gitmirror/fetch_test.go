package gitmirror_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/holdfast/holdfast/repos/gitmirror"
)

// TestFetchAndRead goes the whole way: fetch, head, log, diff, files, archive.
func TestFetchAndRead(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Write("envs/prod/main.tf", "one")
	w.repo.Write("modules/a/main.tf", "module")
	w.repo.Link("envs/prod/shared.tf", "../../modules/a/main.tf")
	first := w.repo.Commit("Begin")
	got := w.fetch()
	if len(got.Moved) != 1 || got.Moved[0] != (gitmirror.Moved{Ref: "refs/heads/main", To: first}) || got.Bytes == 0 {
		t.Errorf("a first fetch has brought %+v", got)
	}
	w.repo.Write("envs/prod/main.tf", "two")
	w.repo.Write("envs/prod/ünïcode \"x\".tf", "3")
	second := w.repo.Commit("Change\nit\n\nand say why")
	w.repo.Switch("side")
	w.repo.Remove("modules")
	side := w.repo.Commit("Remove the modules")
	w.repo.Git("switch", "--quiet", "main")
	w.repo.Git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side")
	merge := w.repo.Push()
	if moved := w.fetch().Moved; len(moved) != 1 || moved[0].From != first || moved[0].To != merge ||
		moved[0].Branch() != "main" {
		t.Errorf("a second fetch has moved %+v", moved)
	}
	if moved := w.fetch().Moved; len(moved) != 0 {
		t.Errorf("a fetch without news has moved %+v", moved)
	}
	head, err := w.mirror.Head(t.Context(), "main")
	if must(t, err); head != merge {
		t.Errorf("the head is %s, not %s", head, merge)
	}
	checkLog(t, w.mirror, first, second, merge)
	changes, more, err := w.mirror.Diff(t.Context(), first, side, 100)
	if must(t, err); more || paths(changes) != "M envs/prod/main.tf, A envs/prod/ünïcode \"x\".tf, D modules/a/main.tf" {
		t.Errorf("the difference is %s", paths(changes))
	}
	if changes, more, err = w.mirror.Diff(t.Context(), "", first, 1); err != nil || !more || len(changes) != 1 {
		t.Errorf("the first of the differences from nothing is %s, %v, %v", paths(changes), more, err)
	}
	for pair, want := range map[[2]string]bool{{first, merge}: true, {merge, first}: false, {side, merge}: true} {
		if is, err := w.mirror.IsAncestor(t.Context(), pair[0], pair[1]); err != nil || is != want {
			t.Errorf("%v: %v, %v", pair, is, err)
		}
	}
	checkTree(t, w.mirror, first)
}

func checkLog(t *testing.T, m *gitmirror.Mirror, first, second, merge string) {
	t.Helper()
	var log []gitmirror.Commit
	for c, err := range m.Log(t.Context(), gitmirror.Range{From: first, To: merge}) {
		must(t, err)
		log = append(log, c)
	}
	if len(log) != 2 || log[0].Hash != merge || log[1].Hash != second {
		t.Fatalf("the log is %+v", log)
	}
	if paths(log[0].Changes) != "D modules/a/main.tf" || len(log[0].Parents) != 2 || log[0].Subject != "Merge side" {
		t.Errorf("the merge is %+v", log[0])
	}
	c := log[1]
	if c.Author != "Ada" || c.Email != "ada@example.com" || c.Subject != "Change it" || c.At.Year() != 2026 {
		t.Errorf("the commit is %+v", c)
	}
	if paths(c.Changes) != "M envs/prod/main.tf, A envs/prod/ünïcode \"x\".tf" || c.More {
		t.Errorf("it changes %s", paths(c.Changes))
	}
	for c, err := range m.Log(t.Context(), gitmirror.Range{To: second, Most: 1, Paths: 1}) {
		if must(t, err); c.Hash != second || !c.More || len(c.Changes) != 1 {
			t.Errorf("a short log has %+v", c)
		}
	}
	for _, err := range m.Log(t.Context(), gitmirror.Range{To: strings.Repeat("0", 40)}) {
		wantKind(t, err, gitmirror.NotThere)
	}
}

func checkTree(t *testing.T, m *gitmirror.Mirror, commit string) {
	t.Helper()
	tree, err := m.Tree(t.Context(), commit)
	must(t, err)
	defer tree.Close()
	if e, ok := tree.Entry("modules/a/main.tf"); !ok || e.Size != 6 || !e.Mode.IsFile() || len(tree.Entries()) != 3 {
		t.Errorf("the entry is %+v of %d", e, len(tree.Entries()))
	}
	text, err := tree.ReadFile(t.Context(), "envs/prod/shared.tf", 100)
	if err != nil || string(text) != "module" {
		t.Errorf("the link leads to %q, %v", text, err)
	}
	if _, err = tree.ReadFile(t.Context(), "envs/prod/main.tf", 2); gitmirror.KindOf(err) != gitmirror.TooLarge {
		t.Errorf("a file beyond the limit: %v", err)
	}
	if err := fstest.TestFS(noLinks{tree.FS(t.Context())}, "envs/prod/main.tf", "modules/a/main.tf"); err != nil {
		t.Error(err)
	}
	if got := unpack(t, m, commit, gitmirror.Archiving{Folders: []string{"envs/prod"}}); len(got) != 2 ||
		got["envs/prod/main.tf"] != "one" || got["envs/prod/shared.tf"] != "module" {
		t.Errorf("the archive has %v", got)
	}
}

// noLinks has the file that a link leads to in the place of the link, as an archive has.
type noLinks struct{ fs.FS }

func (n noLinks) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(n.FS, name)
	var kept []fs.DirEntry
	for _, e := range all {
		if e.Type()&fs.ModeSymlink == 0 {
			kept = append(kept, e)
		}
	}
	return kept, err
}

func (n noLinks) Open(name string) (fs.File, error) {
	f, err := n.FS.Open(name)
	if folder, ok := f.(fs.ReadDirFile); ok && err == nil {
		entries, err := n.ReadDir(name)
		return &shownFolder{folder, entries}, err
	}
	return f, err
}

type shownFolder struct {
	fs.ReadDirFile
	left []fs.DirEntry
}

func (s *shownFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(s.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(s.left) {
		n = len(s.left)
	}
	some := s.left[:n]
	s.left = s.left[n:]
	return some, nil
}

func unpack(t testing.TB, m *gitmirror.Mirror, commit string, a gitmirror.Archiving) map[string]string {
	t.Helper()
	var packed bytes.Buffer
	must(t, m.Archive(t.Context(), commit, a, &packed))
	files := map[string]string{}
	for in := tar.NewReader(&packed); ; {
		header, err := in.Next()
		if err == io.EOF {
			return files
		}
		must(t, err)
		content, err := io.ReadAll(in)
		must(t, err)
		if header.Typeflag != tar.TypeReg {
			t.Errorf("%s is of type %c", header.Name, header.Typeflag)
		}
		files[header.Name] = string(content)
	}
}

// TestBranches: patterns bring what matches, and what is gone there goes here; a branch that isn't there is named.
func TestBranches(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Commit("Begin")
	w.repo.Switch("release/1")
	w.repo.Commit("One")
	w.repo.Switch("other")
	w.repo.Commit("Other")
	w.repo.Bare("update-ref", "refs/pull/7/head", "refs/heads/other")
	w.source.Branches, w.source.Refs = []string{"main", "release/*"}, []string{"refs/pull/7/head"}
	w.fetch()
	branches, err := w.mirror.Branches(t.Context())
	if must(t, err); len(branches) != 2 || branches["release/1"] == "" {
		t.Errorf("the branches are %v", branches)
	}
	if pull, err := w.mirror.Ref(t.Context(), "refs/pull/7/head"); err != nil || pull == "" {
		t.Errorf("the pull request is %q, %v", pull, err)
	}
	w.repo.Bare("update-ref", "-d", "refs/heads/release/1")
	w.source.Refs = nil
	if moved := w.fetch().Moved; len(moved) != 1 || moved[0].To != "" || moved[0].Branch() != "release/1" {
		t.Errorf("a branch that is gone has moved %+v", moved)
	}
	_, err = w.mirror.Head(t.Context(), "release/1")
	wantKind(t, err, gitmirror.NotThere)
	w.source.Branches = []string{"main", "nowhere"}
	_, err = w.mirror.Fetch(t.Context(), w.source)
	wantKind(t, err, gitmirror.NotThere)
	if want := "there is no branch nowhere; the repository has main (its default), other"; err.Error() != want {
		t.Errorf("it says %q instead of %q", err, want)
	}
	w.repo.Bare("symbolic-ref", "HEAD", "refs/heads/gone")
	_, err = w.mirror.Fetch(t.Context(), w.source)
	if want := "there is no branch nowhere; the repository has main, other"; err == nil || err.Error() != want {
		t.Errorf("without a default it says %q instead of %q", err, want)
	}
}

// TestTemporaryName: a branch whose name git's own temporary files could have stays, and moves when it does.
func TestTemporaryName(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Commit("Begin")
	w.repo.Switch("tmp_work")
	work := w.repo.Commit("Work")
	w.source.Branches = []string{"*"}
	w.fetch()
	if moved := w.fetch().Moved; len(moved) != 0 {
		t.Errorf("nothing was pushed, and this has moved: %+v", moved)
	}
	w.source.Branches = []string{"nowhere"}
	_, err := w.mirror.Fetch(t.Context(), w.source)
	wantKind(t, err, gitmirror.NotThere)
	if head, err := w.mirror.Head(t.Context(), "tmp_work"); err != nil || head != work {
		t.Errorf("after a fetch that failed, the branch is at %q, %v", head, err)
	}
}

// TestRepeatedToken: nobody reads the token where a server says again what it was sent.
func TestRepeatedToken(t *testing.T) {
	const token = "tok-5e45a6c0ffee"
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Commit("Begin")
	w.server.Require("bot", token)
	w.server.Before(func(to http.ResponseWriter, r *http.Request) bool {
		said := r.Header.Get("Authorization")
		if said == "" {
			return true
		}
		_, password, _ := r.BasicAuth()
		to.Header().Set("Content-Type", "text/plain")
		to.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(to, "You have sent %s, which is %s\n", said, password)
		return false
	})
	w.source.Credentials = gitmirror.Credentials{User: "bot", Token: token}
	_, err := w.mirror.Fetch(t.Context(), w.source)
	wantKind(t, err, gitmirror.LoginRefused)
	coded := base64.StdEncoding.EncodeToString([]byte("bot:" + token))
	if text := err.Error(); strings.Contains(text, token) || strings.Contains(text, coded) ||
		!strings.Contains(text, "You have sent Basic (credentials), which is (credentials)") {
		t.Errorf("the error is %q", text)
	}
}

// TestEndedFS: whoever goes through a tree that takes too long stops when nobody waits any more.
func TestEndedFS(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Write("a/x.tf", "x")
	commit := w.repo.Commit("Begin")
	w.fetch()
	tree, err := w.mirror.Tree(t.Context(), commit)
	must(t, err)
	defer tree.Close()
	ctx, cancel := context.WithCancel(t.Context())
	files := tree.FS(ctx)
	_, err = fs.ReadDir(files, "a")
	must(t, err)
	cancel()
	if _, err := fs.ReadDir(files, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestToken: a token goes to the host and nowhere else, and what is wrong with one doesn't say it.
func TestToken(t *testing.T) {
	const token = "tok-5e45a6c0ffee"
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Commit("Begin")
	w.server.Require("bot", token)
	_, err := w.mirror.Fetch(t.Context(), w.source)
	wantKind(t, err, gitmirror.LoginRefused)
	w.source.Credentials = gitmirror.Credentials{User: "bot", Token: "wrong-" + token}
	_, err = w.mirror.Fetch(t.Context(), w.source)
	if wantKind(t, err, gitmirror.LoginRefused); strings.Contains(err.Error(), token) {
		t.Errorf("the error says the token: %v", err)
	}
	w.source.Credentials.Token = token
	w.fetch()
	must(t, filepath.WalkDir(w.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), token) {
			t.Errorf("%s has the token", path)
		}
		return err
	}))
}
