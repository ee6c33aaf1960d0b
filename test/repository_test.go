//go:build e2e

package test

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
)

// addRepository serves a folder as a repository: $GIT is its URL, $GIT_CA the file of the authority that the server has
// to trust, and $FORGE the address of its forge's API, for which the file token has a token. A second folder has the
// files that pull request 7 changes.
func addRepository(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 2); err != nil {
		return err
	}
	git, hub := gittest.New(w.t), forgetest.New(w.t, forge.GitHub)
	git.Require("", forgetest.Token)
	repo := git.Repo(w.t, forgetest.Repository)
	if _, err := writeTree(repo, ts.MkAbs(args[0])); err != nil {
		return err
	}
	base := repo.Commit("Begin")
	if len(args) == 2 {
		repo.Switch("open-443")
		changed, err := writeTree(repo, ts.MkAbs(args[1]))
		if err != nil {
			return err
		}
		head := repo.Commit("Change something")
		repo.Git("push", "--quiet", "origin", "HEAD:refs/pull/7/head")
		hub.Do(func() {
			hub.Pulls[7].Base, hub.Pulls[7].Head, hub.Pulls[7].Files = base, head, changed
		})
	}
	ts.Setenv("GIT", git.URL(forgetest.Repository))
	ts.Setenv("GIT_CA", git.CAFile)
	ts.Setenv("FORGE", hub.URL)
	return os.WriteFile(ts.MkAbs("token"), []byte(forgetest.Token), 0o600)
}

// writeTree writes the files of a folder into a repository's work tree, and returns their names.
func writeTree(repo *gittest.Repo, folder string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			repo.Write(name, string(content))
			names = append(names, name)
		}
		return err
	})
	return names, err
}
