package workspace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

// Two who edit one file can't write over each other unseen; who edit two don't meet; the same
// save sent again is fine.
func TestEditsNameTheirBase(t *testing.T) {
	w := made(t, workspace.Limits{})
	put := func(path, text string, e workspace.Edit) (workspace.File, error) {
		_, f, err := w.PutFileIf(w.ctx, w.owner, "a", workspace.File{Path: path}, strings.NewReader(text), e)
		return f, err
	}
	base, err := put("x", "base", workspace.Edit{Absent: true})
	if err != nil {
		t.Fatal(err)
	}
	on := workspace.Edit{Base: []workspace.Digest{base.Digest}, Draft: true}
	theirs, err := put("x", "theirs", on)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put("x", "theirs", on); err != nil {
		t.Errorf("the same save again: %v", err)
	}
	_, err = put("x", "mine", on)
	if !fault.Is(err, fault.FileChanged) || fault.From(err).Details[0].Rule != theirs.Digest.String() {
		t.Errorf("a save over another one's: %v", err)
	}
	if _, err := put("x", "mine", workspace.Edit{Absent: true}); !fault.Is(err, fault.FileChanged) {
		t.Errorf("a new file over one: %v", err)
	}
	if _, err := put("y", "mine", workspace.Edit{Absent: true, Draft: true}); err != nil {
		t.Errorf("another file: %v", err)
	}
	if _, err := w.MoveFile(w.ctx, w.owner, "a", "x", "y", workspace.Edit{}); !fault.Is(err, fault.FileTwice) {
		t.Errorf("a move over a file: %v", err)
	}
	if _, err := w.MoveFile(w.ctx, w.owner, "a", "x", "z", on); !fault.Is(err, fault.FileChanged) {
		t.Errorf("a move of what has changed: %v", err)
	}
	if _, err := w.RemoveFileIf(w.ctx, w.owner, "a", "x", on); !fault.Is(err, fault.FileChanged) {
		t.Errorf("a removal of what has changed: %v", err)
	}
}

// Drafts take each other's place: what an editor saves each second does not push out the history.
func TestDraftsCoalesce(t *testing.T) {
	w := made(t, workspace.Limits{Snapshots: 1000})
	if _, err := w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader("kept"), nil); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		w.clock.Sleep(time.Second)
		if _, _, err := w.PutFileIf(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader(fmt.Sprint(n)),
			workspace.Edit{Draft: true}); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := w.Entries(w.ctx, w.owner, "a", 0, 500)
	if err != nil || len(all) > 70 || !all[0].Draft() || all[len(all)-1].Draft() {
		t.Errorf("%d snapshots are left: %v", len(all), err)
	}
}

// A draft is one by whatever name, until the same files are pushed, which is a snapshot of its own.
func TestIsDraft(t *testing.T) {
	w := made(t, workspace.Limits{})
	var drafts []workspace.Entry
	for _, text := range []string{"one", "two"} {
		e, _, err := w.PutFileIf(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader(text),
			workspace.Edit{Draft: true})
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, e)
	}
	is := func(which string) bool {
		t.Helper()
		draft, err := w.IsDraft(w.ctx, w.owner.Org, "a", which)
		if err != nil {
			t.Fatal(err)
		}
		return draft
	}
	if !is("") || !is(drafts[0].ID.String()) || !is("1") || !is(drafts[1].ID.String()) {
		t.Error("a draft, or an older one, is none")
	}
	pushed, err := w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader("two"), nil)
	if err != nil || pushed.Draft() || pushed.ID != drafts[1].ID {
		t.Errorf("what a draft has, pushed: %+v, %v", pushed, err)
	}
	if is("") || is("2") || is(pushed.ID.String()) || !is("1") {
		t.Error("what was pushed is a draft, or another draft is none")
	}
	if _, _, err := w.PutFileIf(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader("three"),
		workspace.Edit{Draft: true}); err != nil || is(pushed.ID.String()) {
		t.Errorf("what was pushed is a draft once there is a newer one: %v", err)
	}
}

// A move whose answer was lost, sent again, is fine; one of a file that was never there is not.
func TestAMoveSentAgain(t *testing.T) {
	w := made(t, workspace.Limits{})
	_, f, err := w.PutFileIf(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader("text"), workspace.Edit{})
	if err != nil {
		t.Fatal(err)
	}
	on := workspace.Edit{Base: []workspace.Digest{f.Digest}}
	var numbers []int64
	for range 2 {
		made, err := w.MoveFile(w.ctx, w.owner, "a", "x", "y", on)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, made.Number)
	}
	if numbers[0] != numbers[1] {
		t.Errorf("snapshots %v of one move", numbers)
	}
	if _, err := w.MoveFile(w.ctx, w.owner, "a", "x", "y", workspace.Edit{}); !fault.Is(err, fault.FileNotFound) {
		t.Errorf("a move of nothing: %v", err)
	}
}

// An editor that knows nothing of modes leaves a script one that can be run.
func TestAnEditKeepsTheMode(t *testing.T) {
	w := made(t, workspace.Limits{})
	put := func(executable bool, text string, e workspace.Edit) bool {
		t.Helper()
		_, f, err := w.PutFileIf(w.ctx, w.owner, "a", workspace.File{Path: "run.sh", Executable: executable},
			strings.NewReader(text), e)
		if err != nil {
			t.Fatal(err)
		}
		return f.Executable
	}
	put(true, "one", workspace.Edit{})
	if !put(false, "two", workspace.Edit{KeepMode: true}) {
		t.Error("the script can't be run any more")
	}
	if put(false, "three", workspace.Edit{}) {
		t.Error("the mode that was asked for is not there")
	}
	if put(false, "four", workspace.Edit{KeepMode: true}) {
		t.Error("a file that could not be run can be")
	}
}
