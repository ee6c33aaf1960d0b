package workspace_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

func sumOf(text string) workspace.Digest { return sha256.Sum256([]byte(text)) }

// narrow is a writer's key for some states of the organization.
func (w *world) narrow(states string) auth.Principal {
	w.t.Helper()
	patterns, err := auth.ParsePatterns(states)
	if err != nil {
		w.t.Fatal(err)
	}
	return auth.Principal{Org: w.owner.Org, KeyID: "n", Grant: auth.Grant{Role: auth.Writer, States: patterns}}
}

// send sends the contents that the workspace is said to lack, and returns how many those were.
func (w *world) send(p auth.Principal, texts ...string) int {
	w.t.Helper()
	var all []workspace.Digest
	for _, text := range texts {
		all = append(all, sumOf(text))
	}
	missing, err := w.Missing(w.ctx, p, "a", all)
	wantCode(w.t, "what is missing", err, "")
	for _, text := range texts {
		if slices.Contains(missing, sumOf(text)) {
			wantCode(w.t, "send", w.PutContent(w.ctx, p, "a", sumOf(text), strings.NewReader(text)), "")
		}
	}
	return len(missing)
}

// TestDigestsTellNothing: a key for some states learns of no file of another workspace by its digest, and gets none so;
// once it has sent the bytes itself it pushes them, and those of the newest snapshot it need not send again.
func TestDigestsTellNothing(t *testing.T) {
	w := made(t, workspace.Limits{})
	if _, err := w.Create(w.ctx, w.owner, "b", workspace.Defaults()); err != nil {
		t.Fatal(err)
	}
	const secret, ours = `password = "correct horse"`, `region = "eu"`
	_, err := w.PutFile(w.ctx, w.owner, "b", workspace.File{Path: "b.auto.tfvars"}, strings.NewReader(secret), nil)
	wantCode(t, "the other's file", err, "")
	p := w.narrow("a")
	files := []workspace.File{{Path: "a.auto.tfvars", Digest: sumOf(secret)}, {Path: "c.tf", Digest: sumOf(ours)}}
	_, err = w.Push(w.ctx, p, "a", slices.Clone(files), "", nil)
	wantCode(t, "a push of what nobody has sent", err, fault.FilesMissing)
	if f := fault.From(err); len(f.Details) != 2 {
		t.Errorf("it tells which of the files are elsewhere: %+v", f.Details)
	}
	if n := w.send(p, ours, secret); n != 2 {
		t.Errorf("%d of 2 contents are missing", n)
	}
	if n := w.send(p, ours, secret); n != 0 {
		t.Errorf("%d contents are missing that were sent", n)
	}
	_, err = w.Push(w.ctx, w.narrow("a, c"), "a", slices.Clone(files), "", nil)
	wantCode(t, "a push of what was sent", err, "")
	w.clock.Sleep(24 * time.Hour)
	wantCode(t, "sweep", w.Store.Sweep(w.ctx), "")
	if n := w.send(p, ours, secret, "new"); n != 1 {
		t.Errorf("%d contents are missing; one is new", n)
	}
	moved := int64(7)
	_, err = w.Push(w.ctx, p, "a", []workspace.File{{Path: "x", Digest: sumOf("nobody has it")}}, "", &moved)
	wantCode(t, "a push on another snapshot", err, fault.SnapshotMoved)
	if n := w.send(w.owner, secret); n != 0 {
		t.Error("who may see all workspaces sends what one of them has")
	}
}
