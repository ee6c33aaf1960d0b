package statetest

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statemodel"
)

func lockRaw(id, who string) []byte { return fmt.Appendf(nil, `{"ID":%q,"Who":%q}`, id, who) }

// step is a call of one of the organizations on one of the names.
type step struct {
	Org, Name int
	Op        statemodel.Op
	// Reuse asks for a lock under an ID that was released before, if there is one.
	Reuse bool
}

// drawSteps makes up calls that meet often: few names, few locks, few bodies, and one
// state that gets a third of the calls.
func drawSteps(t *rapid.T) []step {
	ids := rapid.SampledFrom([]string{"a", "b", "c"})
	place := rapid.SampledFrom([]int{0, 0, 0, 1, 2})
	one := rapid.Custom(func(t *rapid.T) step {
		o := statemodel.Op{Kind: rapid.SampledFrom([]string{"get", "put", "put", "put", "delete", "undelete", "lock", "lock",
			"unlock", "unlock", "force", "holder"}).Draw(t, "kind")}
		switch o.Kind {
		case "put":
			o.Body = string(stateBody(rapid.Uint64Range(1, 3).Draw(t, "serial"), ""))
			o.Release = rapid.Bool().Draw(t, "release")
			fallthrough
		case "delete":
			o.ID = rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(t, "id")
		case "lock":
			o.Who = rapid.SampledFrom([]string{"ann", "ben"}).Draw(t, "who")
			fallthrough
		case "unlock":
			o.ID = ids.Draw(t, "id")
		}
		return step{Org: place.Draw(t, "org"), Name: place.Draw(t, "name"), Op: o,
			Reuse: rapid.IntRange(0, 7).Draw(t, "reuse") == 0}
	})
	return rapid.SliceOfN(one, 30, 80).Draw(t, "steps")
}

// world is three organizations that nobody used before, and what their states should be.
type world struct {
	store   state.Store
	service *state.Service
	orgs    [3]auth.Principal
	models  [3][3]statemodel.Model
	aliases [3][3]map[string]string
}

func newWorld(store state.Store) *world {
	w := &world{store: store, service: newService(store)}
	for i := range w.orgs {
		w.orgs[i] = auth.Principal{Org: uuid.New(), KeyID: fmt.Sprint("key", i), Grant: auth.Grant{Role: auth.Owner}}
	}
	return w
}

func (w *world) ref(s step) state.Ref {
	return state.Ref{Org: w.orgs[s.Org].Org, Name: [3]state.Name{"app", "App", "app/prod"}[s.Name]}
}

// resolve turns the few IDs of the steps into IDs that are good for one lock each: a LOCK
// of one that was released gets a new one, and what follows means that.
func (w *world) resolve(s step) step {
	if s.Op.ID == "" {
		return s
	}
	aliases := &w.aliases[s.Org][s.Name]
	if *aliases == nil {
		*aliases = map[string]string{}
	}
	id := cmp.Or((*aliases)[s.Op.ID], s.Op.ID)
	for m := w.models[s.Org][s.Name]; s.Op.Kind == "lock" && !s.Reuse && m.WasReleased(id); {
		id += "'"
	}
	(*aliases)[s.Op.ID] = id
	s.Op.ID = id
	return s
}

// do makes the call and compares its answer with the model's.
func (w *world) do(t *rapid.T, s step) statemodel.Outcome {
	m := &w.models[s.Org][s.Name]
	next, want := m.Apply(s.Op)
	got, err := perform(context.Background(), w.service, w.orgs[s.Org], w.ref(s).Name, s.Op)
	if got != want {
		t.Fatalf("%+v on %+v:\n got %+v (%v)\nwant %+v", s, *m, got, err, want)
	}
	*m = next
	return got
}

func (w *world) head(t *rapid.T, s step) state.Head {
	head, err := w.store.Head(context.Background(), w.ref(s))
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return head
}

// settle compares every state with its model.
func (w *world) settle(t *rapid.T) {
	for org := range w.orgs {
		for name := range w.models[org] {
			at := step{Org: org, Name: name, Op: statemodel.Op{Kind: "get"}}
			w.do(t, at)
			head, m := w.head(t, at), w.models[org][name]
			got := statemodel.Model{Number: head.Version.Number, Body: m.Body, Deleted: head.Deleted, Restored: m.Restored,
				Holder: holder(head.Lock), Who: m.Who, Released: head.ReleasedID, Used: m.Used}
			if got != m {
				t.Fatalf("%+v:\n got %+v\nwant %+v", at, got, m)
			}
		}
	}
}

// checkRules compares the service on this store with the model, call by call.
func checkRules(t *testing.T, store state.Store) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(store)
		for _, s := range drawSteps(t) {
			w.do(t, w.resolve(s))
		}
		w.settle(t)
	})
}

// checkReplays makes every successful call twice: the answer stays, and so does all the
// store knows.
func checkReplays(t *testing.T, store state.Store) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(store)
		for _, s := range drawSteps(t) {
			s = w.resolve(s)
			first := w.do(t, s)
			if first.Code != "" {
				continue
			}
			before := w.head(t, s)
			if again := w.do(t, s); again != first {
				t.Fatalf("%+v: first %+v, then %+v", s, first, again)
			}
			if found := diff.Diff(before, w.head(t, s), unseen()); found != "" {
				t.Fatalf("%+v, made again, changed the head:\n%s", s, found)
			}
		}
		w.settle(t)
	})
}

// checkLateReplays makes every successful call again after one of another client: the
// answer is still yes, except for a change with the ID of a lock that isn't held any more,
// and for an undelete since which somebody wrote.
func checkLateReplays(t *testing.T, store state.Store) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(store)
		for _, s := range drawSteps(t) {
			s = w.resolve(s)
			first := w.do(t, s)
			if first.Code != "" {
				continue
			}
			between := s
			between.Op = drawForeign(t)
			w.do(t, w.resolve(between))
			w.replay(t, s, between, first)
			between.Op = statemodel.Op{Kind: "unlock", ID: foreignID}
			w.do(t, w.resolve(between)) // or it would be in the way of all that follow
		}
		w.settle(t)
	})
}

// unseen leaves out the holder's last sign of life, which a replay is too.
func unseen() diff.Option { return cmpopts.IgnoreFields(state.Lock{}, "Seen") }

// foreignID is a lock that drawSteps never asks for.
const foreignID = "foreign"

func drawForeign(t *rapid.T) statemodel.Op {
	return rapid.SampledFrom([]statemodel.Op{
		{Kind: "lock", ID: foreignID, Who: "eve"},
		{Kind: "put", Body: string(stateBody(9, ""))},
	}).Draw(t, "foreign")
}

// replay makes the call again. What it finds unchanged but for a lock, it leaves so.
func (w *world) replay(t *rapid.T, s, between step, first statemodel.Outcome) {
	before := w.head(t, s)
	again := w.do(t, s)
	changes := s.Op.Kind == "put" || s.Op.Kind == "delete"
	if s.Op.Kind == "undelete" && again.Code == fault.StateExists && before.Version.Number != first.Number {
		return
	}
	if again.Code != "" {
		if !changes || s.Op.ID == "" || s.Op.ID == holder(before.Lock) {
			t.Fatalf("%+v after %+v: first %+v, then %+v", s, between.Op, first, again)
		}
		return
	}
	if between.Op.Kind != "lock" || s.Op.Kind == "force" || s.Op.Kind == "holder" {
		return
	}
	if again != first {
		t.Fatalf("%+v after %+v: first %+v, then %+v", s, between.Op, first, again)
	}
	if found := diff.Diff(before, w.head(t, s), unseen()); found != "" {
		t.Fatalf("%+v after %+v changed the head:\n%s", s, between.Op, found)
	}
}
