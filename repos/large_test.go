package repos_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
)

// pointerTo is what git has in the place of a file of Git LFS.
func pointerTo(text string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(text)), len(text))
}

// serveLarge has the world's server have these files of Git LFS, and count what is asked for.
func (w *world) serveLarge(texts ...string) (asked *int) {
	asked = new(int)
	byDigest := map[string]string{}
	for _, text := range texts {
		byDigest[fmt.Sprintf("%x", sha256.Sum256([]byte(text)))] = text
	}
	w.git.Before(func(rw http.ResponseWriter, r *http.Request) bool {
		if text, ok := byDigest[strings.TrimPrefix(r.URL.Path, "/large/")]; ok {
			_, _ = io.WriteString(rw, text)
			return false
		}
		if !strings.HasSuffix(r.URL.Path, "/info/lfs/objects/batch") {
			return true
		}
		*asked++
		var question struct{ Objects []struct{ OID string } }
		_ = json.NewDecoder(r.Body).Decode(&question)
		oid := question.Objects[0].OID
		if byDigest[oid] == "" {
			fmt.Fprintf(rw, `{"objects":[{"oid":%q,"error":{"code":404}}]}`, oid)
		} else {
			fmt.Fprintf(rw, `{"objects":[{"oid":%q,"actions":{"download":{"href":%q}}}]}`, oid, w.git.URL("")+"/large/"+oid)
		}
		return false
	})
	return asked
}

// archived is an archive of a commit.
func (w *world) archived(commit string, folders ...string) (string, error) {
	var packed bytes.Buffer
	err := w.Archive(w.t.Context(), w.caller.Org, "infra", commit, gitmirror.Archiving{Folders: folders}, &packed)
	if err != nil {
		return "", err
	}
	var all []string
	for r := tar.NewReader(&packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(all, " "), nil
		}
		must(w.t, err)
		text, err := io.ReadAll(r)
		must(w.t, err)
		all = append(all, h.Name+"="+string(text))
	}
}

// TestLargeFiles: configurations have the files of Git LFS where the repository wants them, each downloaded once and
// only if it is in the configuration; what the server has not, or is too large, is an error that names the file.
func TestLargeFiles(t *testing.T) {
	w := newWorld(t)
	asked := w.serveLarge("the image")
	git := w.git.Repo(t, "infra")
	git.Write("a/image.bin", pointerTo("the image"))
	git.Write("a/main.tf", "main")
	git.Write("b/lost.bin", pointerTo("nobody has it"))
	git.Write("c/huge.bin", strings.Replace(pointerTo("x"), "size 1", "size 99000000000", 1))
	git.Write("d/no.txt", strings.Replace(pointerTo("x"), "sha256:", "md5:", 1))
	git.Write("d/none.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:../../etc/passwd\nsize 3\n")
	commit := git.Commit("Begin")
	w.create("infra", w.git.URL("infra"), hook.Plain)
	if got, err := w.archived(commit, "a"); err != nil || !strings.Contains(got, "git-lfs") || *asked > 0 {
		t.Errorf("without the setting: %q, %v", got, err)
	}
	must(t, errOf(w.Change(t.Context(), w.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.LFS = true
		return nil
	}})))
	before, err := w.Fetch(t.Context(), w.caller, "infra")
	must(t, err)
	for range 2 {
		if got, err := w.archived(commit, "a"); err != nil || got != "a/image.bin=the image a/main.tf=main" {
			t.Errorf("the archive has %q, %v", got, err)
		}
	}
	if *asked != 1 {
		t.Errorf("it was asked for %d times", *asked)
	}
	after, err := w.Fetch(t.Context(), w.caller, "infra")
	must(t, err)
	if grown := after.Status.Bytes - before.Status.Bytes; grown != int64(len("the image")) {
		t.Errorf("the repository takes %d bytes more", grown)
	}
	_, err = w.archived(commit, "b")
	if wantCode(t, err, fault.RepositoryFailed); !strings.Contains(err.Error(), "b/lost.bin") {
		t.Error(err)
	}
	_, err = w.archived(commit, "c")
	wantCode(t, err, fault.FilesTooLarge)
	if got, err := w.archived(commit, "d"); err != nil || strings.Count(got, "git-lfs") != 2 {
		t.Errorf("what is no pointer is %q, %v", got, err)
	}
}
