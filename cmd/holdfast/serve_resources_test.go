package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reaching lets the shell's commands reach a server.
func (o tenant) reaching(r *running) {
	o.environ = []string{"HOLDFAST_ADDR=http://" + r.address, "HOLDFAST_KEY=" + o.key.Key}
}

// When the DELETE of a version has answered, no file of the server has its bytes, and no search finds them; it is the
// same after a restart.
func TestPurgeEmptiesEveryFile(t *testing.T) {
	o := newTenant(t)
	r := o.start()
	o.reaching(r)
	secret := "9c3fe12a77hunter2"
	o.push("app", network(1, secret, "small"))
	if out := o.must("resource", "search", "--attr", "size="+secret); !strings.Contains(out, "aws_vpc.net0") {
		t.Errorf("a state that was just written is not found:\n%s", out)
	}
	if status, body := o.call(r, "DELETE", "/api/v1/state/app/versions/1?reason=leaked", ""); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if found := o.filesWith(secret); len(found) > 0 {
		t.Errorf("it is still in %q", found)
	}
	if out := o.must("resource", "search", "aws_vpc"); strings.Contains(out, "aws_vpc.net0") {
		t.Errorf("a version that is purged is found:\n%s", out)
	}
	r.stop()
	<-r.ended
	o.reaching(o.start())
	if out := o.must("resource", "search", "aws_vpc"); strings.Contains(out, "aws_vpc.net0") {
		t.Errorf("after a restart a version that is purged is found:\n%s", out)
	}
}

// filesWith lists the files of the data folder that have a text in them.
func (o tenant) filesWith(text string) (names []string) {
	o.t.Helper()
	err := filepath.WalkDir(o.file+".data", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		if bytes.Contains(raw, []byte(text)) {
			names = append(names, filepath.Base(name))
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return names
}
