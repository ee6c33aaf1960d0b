package workspace_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/workspace"
)

// counting tells how much memory is acquired while a body is read, or an answer is written.
type counting struct {
	from   io.Reader
	memory *budget.Budget
	seen   []int64
}

func (c *counting) Read(p []byte) (int, error) {
	c.seen = append(c.seen, c.memory.InUse())
	return c.from.Read(p)
}

func (c *counting) Write(p []byte) (int, error) {
	c.seen = append(c.seen, c.memory.InUse())
	return len(p), nil
}

// What is in memory of files and their lists is acquired first, and let go of.
func TestMemoryIsAcquired(t *testing.T) {
	w := made(t, workspace.Limits{})
	w.Memory = budget.New(64<<20, "bytes")
	read := func(content []byte) *counting { return &counting{from: bytes.NewReader(content), memory: w.Memory} }
	from := func(text string) *counting { return read([]byte(text)) }
	e, err := w.push(archive(t, entry{name: "a"}, entry{name: "b", content: "b"}))
	wantCode(t, "push", err, "")
	for name, call := range map[string]func() (*counting, error){
		"archive": func() (*counting, error) {
			c := read(archive(t, entry{name: "a", content: "1"}, entry{name: "b"}))
			_, err := w.PushArchive(w.ctx, w.owner, "a", c, "", nil)
			return c, err
		},
		"file": func() (*counting, error) {
			c := from("2")
			_, err := w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "a"}, c, nil)
			return c, err
		},
		"content": func() (*counting, error) {
			c := from("")
			return c, w.PutContent(w.ctx, w.owner, "a", sha256.Sum256(nil), c)
		},
		"write": func() (*counting, error) {
			c := from("")
			return c, w.WriteEntry(w.ctx, w.owner.Org, e, c)
		},
		"archive for an executor": func() (*counting, error) {
			c := from("")
			return c, w.WriteArchive(w.ctx, w.owner.Org, "a", "1", c)
		},
	} {
		c, err := call()
		wantCode(t, name, err, "")
		if len(c.seen) == 0 || slices.Min(c.seen) == 0 {
			t.Errorf("%s: acquired were %v", name, c.seen)
		}
		if n := w.Memory.InUse(); n != 0 {
			t.Errorf("%s: %d bytes are left", name, n)
		}
	}
}

// Where there is no memory, nothing is done.
func TestNoMemory(t *testing.T) {
	w := made(t, workspace.Limits{})
	first, err := w.push(archive(t, entry{name: "a"}))
	wantCode(t, "push", err, "")
	w.Memory = budget.New(64<<20, "bytes")
	w.Memory.Force(budget.Share{Org: uuid.New()}, 64<<20)
	_, err = w.Push(w.ctx, w.owner, "a", []workspace.File{{Path: "b", Digest: sha256.Sum256(nil)}}, "", nil)
	wantCode(t, "push", err, fault.Overloaded)
	wantCode(t, "write", w.WriteEntry(w.ctx, w.owner.Org, first, io.Discard), fault.Overloaded)
	w.Memory = nil
	newest, err := w.Entry(w.ctx, w.owner, "a", "")
	if err != nil || newest.Number != first.Number {
		t.Errorf("the newest is %+v, %v", newest, err)
	}
}

// Folders of a path are compared without their case by parts of one text.
func TestCaseOfLongPaths(t *testing.T) {
	long := strings.Repeat("Ä/", 20)
	files := []workspace.File{{Path: long + "İ"}, {Path: strings.ToLower(long) + "x"}}
	_, err := workspace.NewSnapshot(files, workspace.Limits{})
	wantCode(t, "folders that differ by case", err, fault.FileTwice)
	_, err = workspace.NewSnapshot([]workspace.File{{Path: long + "İ/a"}, {Path: long + "İ/b"}, {Path: long + "J/c"}},
		workspace.Limits{})
	wantCode(t, "folders of two letters", err, "")
}
