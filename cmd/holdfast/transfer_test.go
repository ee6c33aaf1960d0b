package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

// What does not arrive whole leaves no file.
func TestPullLeavesNoHalves(t *testing.T) {
	digest := sha256.Sum256([]byte("whole"))
	for want, answer := range map[string]http.HandlerFunc{
		"they don't match its digest": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"`+hex.EncodeToString(digest[:])+`"`)
			fmt.Fprint(w, "whale")
		},
		"the answer broke off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			fmt.Fprint(w, "who")
		},
	} {
		s := &shell{t: t}
		s.asking(answer, auth.NewKey(acme))
		dir := t.TempDir()
		s.refuse(exitFailed, want, "state", "pull", "app", "-o", filepath.Join(dir, "app.tfstate"))
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
}

// In a table on a terminal no name can move the cursor, and the last column fits.
func TestTablesOnTerminals(t *testing.T) {
	s := newShell(t)
	s.columns = 40
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"states":[{"name":"a","lock":{"id":"1","who":"x\u001b[2Jy","operation":"`+strings.Repeat("o", 60)+
			`"}}],"next":null}`)
	}), auth.NewKey(acme))
	out := s.must("state", "list")
	if strings.Contains(out, "\x1b[2J") || !strings.HasPrefix(out, "\x1b[1mNAME") || !strings.Contains(out, `x\x1b[2Jy`) {
		t.Errorf("printed %q", out)
	}
	s.environ = append(s.environ, "NO_COLOR=1")
	if out := s.must("state", "list"); strings.Contains(out, "\x1b") {
		t.Errorf("printed %q", out)
	}
}
