package state_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// fenceWorld is a state that executors of two runs, a person and whoever runs the runs meet
// at, and what it should be.
type fenceWorld struct {
	service *state.Service
	store   state.Store
	ref     state.Ref

	fenced  state.Fence
	holder  string // KeyID
	lockID  string // of the held lock
	locks   int    // that there were
	written int    // that were sent, each with another body
	newest  uint64
	author  string // of the newest version, a KeyID
	kept    int
}

// TestFencesAgainstAModel makes random calls and compares each with what fences promise: what
// a run does is accepted if and only if the fence was open for it, and a write that was not is
// there as a candidate. Persons don't notice that there are fences.
func TestFencesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := memory.New(1 << 30)
		defer store.Close()
		service := state.NewService(store, ruled(state.Policy{Guards: state.GuardsOff}), time.Now,
			slog.New(slog.DiscardHandler))
		w := &fenceWorld{service: service, store: store, ref: state.Ref{Org: uuid.New(), Name: "x"}}
		t.Repeat(map[string]func(*rapid.T){"fence": w.fence, "write": w.write, "lock": w.lock, "unlock": w.unlock,
			"verdict": w.verdict, "": w.check})
	})
}

// caller is an executor of one of the runs, or a person.
func (w *fenceWorld) caller(t *rapid.T) auth.Principal {
	if rapid.IntRange(0, 3).Draw(t, "who") == 0 {
		return auth.Principal{Org: w.ref.Org, KeyID: "k-1", Grant: auth.Grant{Role: auth.Owner}}
	}
	run, pinned := w.run(t), rapid.SampledFrom([]uint64{0, w.newest, w.newest}).Draw(t, "pinned")
	return auth.Principal{
		Org: w.ref.Org, KeyID: auth.RunKeyID(run.ID),
		Run: &auth.RunGrant{ID: run.ID, Epoch: run.Epoch, Stage: auth.RunApply, State: string(w.ref.Name), Version: pinned},
	}
}

func (w *fenceWorld) run(t *rapid.T) state.RunRef {
	return state.RunRef{ID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "run"),
		Epoch: rapid.Int64Range(1, 3).Draw(t, "epoch")}
}

// admits is the promise, in other words than the code's.
func (w *fenceWorld) admits(p auth.Principal) bool {
	return p.Run == nil || w.fenced == state.Fence{Run: p.Run.ID, Epoch: p.Run.Epoch, Open: true}
}

func (w *fenceWorld) fence(t *rapid.T) {
	run := w.run(t)
	next := state.Fence{Run: run.ID, Epoch: run.Epoch, Open: rapid.Bool().Draw(t, "open")}
	back := next.Run == w.fenced.Run && next.Epoch < w.fenced.Epoch
	if _, err := w.service.Fence(context.Background(), w.ref, next); fault.Is(err, fault.RunFenced) != back || !back &&
		err != nil {
		t.Fatalf("%+v after %+v: %v", next, w.fenced, err)
	}
	if !back && (next.Open || next.Run == w.fenced.Run) {
		w.fenced = next
	}
}

func (w *fenceWorld) write(t *rapid.T) {
	p := w.caller(t)
	w.written++
	id := rapid.SampledFrom([]string{"", w.lockID}).Draw(t, "id")
	body := fmt.Sprintf(`{"version":4,"serial":%[1]d,"lineage":"L","outputs":{"n":{"value":%[1]d}},"resources":[]}`,
		w.written)
	v, err := w.service.Put(context.Background(), p, w.ref.Name, state.Write{Body: []byte(body), LockID: id})
	switch {
	case !w.admits(p) && w.kept == state.MaxOpenCandidates:
		w.want(t, "a fenced write that can't be kept", err, fault.CandidatesFull)
	case !w.admits(p):
		w.want(t, "a fenced write", err, fault.RunFenced)
		w.kept++
	case id != w.lockID:
		w.want(t, "a write without the lock", err, fault.LockHeld)
	default:
		w.newest++
		w.author = p.KeyID
		if err != nil || v.Number != w.newest {
			t.Fatalf("version %d, %v; want %d", v.Number, err, w.newest)
		}
	}
}

func (w *fenceWorld) lock(t *rapid.T) {
	p := w.caller(t)
	w.locks++
	id := fmt.Sprint("lock ", w.locks)
	_, err := w.service.Lock(context.Background(), p, w.ref.Name, state.LockInfo{ID: id, Who: p.KeyID})
	switch {
	case !w.admits(p):
		w.want(t, "a fenced LOCK", err, fault.RunFenced)
	case w.lockID != "":
		w.want(t, "a LOCK of what is held", err, fault.LockHeld)
	case p.Run != nil && p.Run.Version != w.newest && p.KeyID != w.author:
		w.want(t, "a LOCK of what has changed since the plan", err, fault.RunStale)
	case err != nil:
		t.Fatal(err)
	default:
		w.holder, w.lockID = p.KeyID, id
	}
}

func (w *fenceWorld) unlock(t *rapid.T) {
	p := w.caller(t)
	if w.lockID == "" {
		return
	}
	err := w.service.Unlock(context.Background(), p, w.ref.Name, state.LockInfo{ID: w.lockID})
	switch {
	case !w.admits(p):
		w.want(t, "a fenced UNLOCK", err, fault.RunFenced)
	case err != nil:
		t.Fatal(err)
	default:
		w.holder, w.lockID = "", ""
	}
}

func (w *fenceWorld) verdict(t *rapid.T) {
	run := w.run(t).ID
	released, err := w.service.ReleaseFor(context.Background(), w.ref, run, "a test")
	holds := w.holder == auth.RunKeyID(run)
	if err != nil || (released != nil) != holds {
		t.Fatalf("a verdict on %s, while %q holds the lock: %+v, %v", run, w.holder, released, err)
	}
	if holds {
		w.holder, w.lockID = "", ""
	}
}

func (w *fenceWorld) check(t *rapid.T) {
	head, err := w.store.Head(context.Background(), w.ref)
	if err != nil || head.Fence != w.fenced || head.Version.Number != w.newest || (head.Lock == nil) != (w.lockID == "") {
		t.Fatalf("%+v, %v; want %+v", head, err, *w)
	}
	kept, err := w.store.Candidates(context.Background(), w.ref, "", 9)
	if err != nil || len(kept) != w.kept {
		t.Fatalf("%d candidates, %v; want %d", len(kept), err, w.kept)
	}
}

func (w *fenceWorld) want(t *rapid.T, what string, err error, code fault.Code) {
	if !fault.Is(err, code) {
		t.Fatalf("%s: %v; want %s (%+v)", what, err, code, *w)
	}
}
