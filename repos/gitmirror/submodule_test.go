package gitmirror_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// bring fetches what a commit lacks, as the service does.
func (w *world) bring(commit string, credentials gitmirror.Credentials) error {
	for range 8 {
		lacking, err := w.mirror.WithSubmodules().Lacks(w.t.Context(), commit, w.source.Remote)
		if err != nil || len(lacking) == 0 {
			return err
		}
		for _, one := range lacking {
			if err := w.mirror.FetchSubmodule(w.t.Context(), one, credentials); err != nil {
				return err
			}
		}
	}
	return errors.New("it never ends")
}

// archived are the paths and texts of an archive of a folder.
func archived(t *testing.T, m *gitmirror.Mirror, commit, folder string) (string, error) {
	t.Helper()
	var packed bytes.Buffer
	if err := m.Archive(t.Context(), commit, gitmirror.Archiving{Folders: []string{folder}}, &packed); err != nil {
		return "", err
	}
	var all []string
	for r := tar.NewReader(&packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, " "), nil
		}
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		all = append(all, h.Name+"="+string(text))
	}
}

// TestSubmodules: a commit goes on in its submodules and in those within, by relative and whole URLs, also where the
// commit is on no branch; changes of one are those of its files. Without the setting all that is left out.
func TestSubmodules(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	inner := w.server.Repo(t, "acme/inner")
	inner.Write("i.tf", "inner")
	innermost := inner.Commit("Begin")
	outer := w.server.Repo(t, "acme/outer")
	outer.Write("o.tf", "one")
	outer.Submodule("deep", "../inner.git", innermost)
	first := outer.Commit("Begin")
	outer.Write("o.tf", "two")
	second := outer.Commit("Change")
	outer.Git("reset", "--quiet", "--hard", first) // so that the second one is on no branch
	outer.Push()
	w.repo.Write("envs/main.tf", "root")
	w.repo.Submodule("envs/outer", w.server.URL("acme/outer"), first)
	one := w.repo.Commit("Begin")
	w.repo.Submodule("envs/outer", w.server.URL("acme/outer"), second)
	two := w.repo.Commit("Move on")
	w.fetch()
	for _, commit := range []string{one, two} {
		must(t, w.bring(commit, gitmirror.Credentials{}))
	}
	in := w.mirror.WithSubmodules()
	got, err := archived(t, in, two, "envs")
	if want := "envs/main.tf=root envs/outer/.gitmodules=" + outer.Git("show", second+":.gitmodules") +
		"\n envs/outer/deep/i.tf=inner envs/outer/o.tf=two"; err != nil || got != want {
		t.Errorf("the archive has %q, not %q: %v", got, want, err)
	}
	if got, err = archived(t, w.mirror, two, "envs"); err != nil || got != "envs/main.tf=root" {
		t.Errorf("without submodules the archive has %q: %v", got, err)
	}
	changes, more, err := in.Diff(t.Context(), one, two, 100)
	if got := paths(changes); err != nil || more || got != "M envs/outer, M envs/outer/o.tf" {
		t.Errorf("%q differ, %v", got, err)
	}
	for c, err := range in.Log(t.Context(), gitmirror.Range{From: one, To: two}) {
		if must(t, err); paths(c.Changes) != "M envs/outer, M envs/outer/o.tf" {
			t.Errorf("the commit changes %q", paths(c.Changes))
		}
	}
	tree, err := in.Tree(t.Context(), two)
	must(t, err)
	defer tree.Close()
	if got := strings.Join(tree.Inside([]string{"envs/outer", "x"}), " "); got !=
		"envs/outer x envs/outer/.gitmodules envs/outer/deep/i.tf envs/outer/o.tf" {
		t.Errorf("inside is %q", got)
	}
	if bytes, err := w.mirror.ModuleBytes(); err != nil || bytes == 0 {
		t.Errorf("the submodules take %d bytes, %v", bytes, err)
	}
}

// TestHostileSubmodules: what a .gitmodules says leads to no other protocol, to no private network and to no file, and
// a submodule that nobody knows where it is fails what reads it, and nothing else.
func TestHostileSubmodules(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Write("fine/main.tf", "fine")
	good := w.repo.Commit("Begin")
	for url, kind := range map[string]gitmirror.Kind{
		"https://10.0.0.1/x.git": gitmirror.AddressRefused, "ssh://git@169.254.169.254/x": gitmirror.AddressRefused,
		"file:///etc": gitmirror.AddressInvalid, "/etc": gitmirror.AddressInvalid,
		"git://example.com/x": gitmirror.AddressInvalid,
		"ext::sh -c id":       gitmirror.AddressInvalid, "https://bot:pw@example.com/x": gitmirror.AddressInvalid,
		w.server.URL("nobody"): gitmirror.NotThere, "../nobody.git": gitmirror.NotThere,
	} {
		w.repo.Submodule("sub", url, strings.Repeat("a1", 20))
		commit := w.repo.Commit("Attack")
		w.fetch()
		wantKind(t, w.bring(commit, gitmirror.Credentials{}), kind)
		_, err := archived(t, w.mirror.WithSubmodules(), commit, "")
		wantKind(t, err, gitmirror.NotThere)
		if got, err := archived(t, w.mirror.WithSubmodules(), commit, "fine"); err != nil || got != "fine/main.tf=fine" {
			t.Errorf("%s: the rest is %q, %v", url, got, err)
		}
	}
	w.repo.Remove(".gitmodules")
	stray := w.repo.Commit("Forget")
	w.fetch()
	must(t, w.bring(stray, gitmirror.Credentials{}))
	must(t, w.bring(good, gitmirror.Credentials{}))
}

// TestSubmodulesOfThisMachine: a submodule does not lead to this machine, whatever it is called, where that is
// not allowed.
func TestSubmodulesOfThisMachine(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	var commits []string
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		w.repo.Submodule("sub", "https://"+host+":1234/x.git", strings.Repeat("a1", 20))
		commits = append(commits, w.repo.Commit("Attack"))
	}
	w.fetch()
	closed, err := gitmirror.Open(w.folder, gitmirror.Options{CAFile: w.server.CAFile})
	must(t, err)
	w.mirror = closed
	for _, commit := range commits {
		wantKind(t, w.bring(commit, gitmirror.Credentials{}), gitmirror.AddressRefused)
	}
}

// TestSubmodulesAreBounded: neither many nor large ones cost more than they may, and what is too large takes nothing of
// the mirror with it.
func TestSubmodulesAreBounded(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{Bytes: 1 << 20})
	large := w.server.Repo(t, "large")
	large.Write("x", noise(3<<20))
	w.repo.Submodule("large", "../large.git", large.Commit("Begin"))
	one := w.repo.Commit("Begin")
	w.fetch()
	wantKind(t, w.bring(one, gitmirror.Credentials{}), gitmirror.TooLarge)
	var said, index strings.Builder
	for i := range 101 {
		fmt.Fprintf(&said, "[submodule \"s%d\"]\npath = s%d\nurl = ../small.git\n", i, i)
		fmt.Fprintf(&index, "160000 %s 0\ts%d\n", strings.Repeat("a1", 20), i)
	}
	w.repo.Write(".gitmodules", said.String())
	w.repo.Git("add", ".gitmodules")
	w.repo.GitIn(index.String(), "update-index", "--index-info")
	w.repo.Git("commit", "--quiet", "--message", "Many")
	many := w.repo.Push()
	w.fetch()
	wantKind(t, w.bring(many, gitmirror.Credentials{}), gitmirror.TooLarge)
	_, err := w.mirror.WithSubmodules().Tree(t.Context(), many) // also where nobody has anything fetched, as of a fork
	wantKind(t, err, gitmirror.TooLarge)
	if _, err := w.mirror.Tree(t.Context(), one); err != nil {
		t.Error("the mirror itself is gone:", err)
	}
}

// TestMirrorsOfSubmodulesAreBounded: git is told of each where it looks for objects, and a process can be told only so
// much. What nobody needs any more makes room.
func TestMirrorsOfSubmodulesAreBounded(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	small := w.server.Repo(t, "small")
	small.Write("x", "y")
	w.repo.Submodule("small", "../small.git", small.Commit("Begin"))
	one := w.repo.Commit("Begin")
	w.fetch()
	mirrors := filepath.Join(w.folder, "modules")
	for i := range 250 {
		must(t, os.MkdirAll(filepath.Join(mirrors, fmt.Sprintf("%064x", i), "git", "objects"), 0o700))
	}
	must(t, w.bring(one, gitmirror.Credentials{}))
	if entries, err := os.ReadDir(mirrors); err != nil || len(entries) > 200 {
		t.Errorf("%d mirrors of submodules, %v", len(entries), err)
	}
	if got, err := archived(t, w.mirror.WithSubmodules(), one, "small"); err != nil || !strings.Contains(got, "x=y") {
		t.Error(got, err)
	}
}

// TestChangesOfManySubmodules: they are gone into until that takes too long, which is then said.
func TestChangesOfManySubmodules(t *testing.T) {
	suite.Deep(t)
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Write("a", "a")
	before := w.repo.Commit("Begin")
	var index strings.Builder
	for i := range 501 {
		fmt.Fprintf(&index, "160000 %s 0\ts%d\n", strings.Repeat("a1", 20), i)
	}
	w.repo.GitIn(index.String(), "update-index", "--index-info")
	w.repo.Git("commit", "--quiet", "--message", "Many")
	many := w.repo.Push()
	w.fetch()
	for _, most := range []int{5000, 501} {
		changes, more, err := w.mirror.WithSubmodules().Diff(t.Context(), before, many, most)
		if err != nil || !more || len(changes) != 501 {
			t.Errorf("of %d: %d changes, more: %t, %v", most, len(changes), more, err)
		}
	}
}
