package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository of a server, and a work tree in which commits are made.
type Repo struct {
	t    testing.TB
	bare string
	work string
	// Name is its name at the server.
	Name string
}

// Repo makes an empty repository whose branch is main.
func (s *Server) Repo(t testing.TB, name string) *Repo {
	t.Helper()
	r := &Repo{t: t, bare: filepath.Join(s.Root, name+".git"), work: t.TempDir(), Name: name}
	r.git("", "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.Git("init", "--quiet", "--initial-branch=main")
	r.Git("remote", "add", "origin", r.bare)
	return r
}

// Git runs git in the work tree, and returns what it says.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.git("", args...)
}

// GitIn is Git with an input.
func (r *Repo) GitIn(input string, args ...string) string {
	r.t.Helper()
	return r.git(input, args...)
}

// Bare runs git in the repository that is served.
func (r *Repo) Bare(args ...string) string {
	r.t.Helper()
	return r.git("", append([]string{"--git-dir", r.bare}, args...)...)
}

func (r *Repo) git(input string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.work, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "LC_ALL=C",
		"GIT_COMMITTER_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}
	cmd.Stdin = strings.NewReader(input)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, said.String())
	}
	return strings.TrimSpace(string(out))
}

// Write writes a file of the work tree.
func (r *Repo) Write(path, content string) {
	r.t.Helper()
	full := filepath.Join(r.work, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Link makes a symbolic link in the work tree.
func (r *Repo) Link(path, to string) {
	r.t.Helper()
	full := filepath.Join(r.work, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(to, full); err != nil {
		r.t.Fatal(err)
	}
}

// Remove removes a file of the work tree.
func (r *Repo) Remove(path string) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.work, path)); err != nil {
		r.t.Fatal(err)
	}
}

// Commit commits the work tree, pushes the branch, and returns the commit.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.Push()
}

// Push pushes the branch that is checked out, and returns its commit.
func (r *Repo) Push() string {
	r.t.Helper()
	r.Git("push", "--quiet", "--force", "origin", "HEAD")
	return r.Git("rev-parse", "HEAD")
}

// Switch checks a branch out, which is made if there is none.
func (r *Repo) Switch(branch string) {
	r.t.Helper()
	r.Git("switch", "--quiet", "--force-create", branch)
}

// Tree makes a tree object of lines of git mktree, without any check, and a commit of it on a branch.
func (r *Repo) Tree(branch string, lines ...string) string {
	r.t.Helper()
	tree := r.git(strings.Join(lines, "\n")+"\n", "mktree", "--missing")
	commit := r.git("", "commit-tree", "-m", "made by hand", tree)
	r.Git("push", "--quiet", "--force", "origin", commit+":refs/heads/"+branch)
	return commit
}

// Blob makes a blob and returns its hash.
func (r *Repo) Blob(content string) string {
	r.t.Helper()
	return r.git(content, "hash-object", "-w", "--stdin")
}

// Deep makes a tree of so many folders within one another, whose names have 20 letters, with one file at its end, and a
// commit of it on a branch.
func (r *Repo) Deep(branch string, depth int) string {
	r.t.Helper()
	entry := []byte("100644 f\x00")
	below := r.object("blob", []byte("deep"))
	for range depth {
		below = r.object("tree", append(entry, below...))
		entry = []byte("40000 " + strings.Repeat("d", 20) + "\x00")
	}
	commit := r.Bare("commit-tree", "-m", "deep", hex.EncodeToString(below))
	r.Bare("update-ref", "refs/heads/"+branch, commit)
	return commit
}

// object writes an object into the repository that is served as git keeps it, which takes a thousandth of what git
// itself takes.
func (r *Repo) object(kind string, content []byte) []byte {
	r.t.Helper()
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	sum := sha1.Sum(whole)
	hash := hex.EncodeToString(sum[:])
	folder := filepath.Join(r.bare, "objects", hash[:2])
	if err := os.MkdirAll(folder, 0o755); err != nil {
		r.t.Fatal(err)
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(whole); err != nil {
		r.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, hash[2:]), packed.Bytes(), 0o444); err != nil {
		r.t.Fatal(err)
	}
	return sum[:]
}

// Submodule has a commit of another repository at a path, by a URL.
func (r *Repo) Submodule(path, url, commit string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Join(r.work, path), 0o755); err != nil { // or git takes it for removed
		r.t.Fatal(err)
	}
	r.Git("config", "--file", ".gitmodules", "submodule."+path+".path", path)
	r.Git("config", "--file", ".gitmodules", "submodule."+path+".url", url)
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+commit+","+path)
}
