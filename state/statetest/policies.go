package statetest

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statemodel"
)

// kept gives every organization one policy.
type kept state.Policy

func (k kept) Policy(uuid.UUID, string) state.Policy { return state.Policy(k) }

// strict is a service whose organizations have a policy, under a clock that stands still.
type strict struct {
	service *state.Service
	caller  auth.Principal
	now     time.Time
}

func newStrict(store state.Store, policy state.Policy) *strict {
	s := &strict{now: noon(), caller: auth.Principal{Org: uuid.New(), KeyID: "key", Grant: auth.Grant{Role: auth.Owner}}}
	s.service = state.NewService(store, kept(policy), func() time.Time { return s.now }, slog.New(slog.DiscardHandler))
	return s
}

func (s *strict) want(t *testing.T, o statemodel.Op, code fault.Code) {
	t.Helper()
	got, err := perform(t.Context(), s.service, s.caller, "strict", o)
	if got.Code != code {
		t.Fatalf("%+v at %v: %v, want %q", o, s.now.Sub(noon()), err, code)
	}
}

// checkTakeOver lets a lock's holder fall silent: after the organization's time, and not
// before, the next one takes over, and the old one is fenced off for good.
func checkTakeOver(t *testing.T, store state.Store) {
	const ttl = time.Minute
	s := newStrict(store, state.Policy{LockTTL: ttl})
	lock := func(id string) statemodel.Op { return statemodel.Op{Kind: "lock", ID: id, Who: id} }
	put := func(id string) statemodel.Op {
		return statemodel.Op{Kind: "put", ID: id, Body: string(stateBody(1, id))}
	}
	s.want(t, lock("old"), "")
	s.now = s.now.Add(ttl - time.Microsecond)
	s.want(t, lock("new"), fault.LockHeld)
	s.want(t, put("old"), "") // a sign of life
	s.now = s.now.Add(ttl - time.Microsecond)
	s.want(t, lock("new"), fault.LockHeld)
	s.now = s.now.Add(time.Microsecond)
	s.want(t, lock("new"), "")
	s.want(t, put("old"), fault.LockHeld)
	s.want(t, lock("old"), fault.LockHeld)
	s.want(t, statemodel.Op{Kind: "unlock", ID: "old"}, "") // it is free of it already
	s.want(t, put("new"), "")
	s.want(t, statemodel.Op{Kind: "unlock", ID: "new"}, "")
	s.want(t, put("old"), fault.LockNotHeld)
	s.want(t, lock("old"), fault.LockIDUsed)
	s.want(t, put("new"), fault.LockNotHeld)
}

// checkHeld has a guard keep writes back: each is one candidate however often it is sent,
// and is a version once it is promoted.
func checkHeld(t *testing.T, store state.Store) {
	s := newStrict(store, state.Policy{Guards: state.GuardsHold, ShrinkPercent: 50})
	ref := state.Ref{Org: s.caller.Org, Name: "strict"}
	full := fmt.Sprintf(`{"version":4,"serial":1,"lineage":"l","resources":[%s]}`,
		strings.TrimSuffix(strings.Repeat(`{"mode":"managed","type":"t","name":"n","instances":[{}]},`, 4), ","))
	empty := statemodel.Op{Kind: "put", Body: `{"version":4,"serial":2,"lineage":"l","resources":[]}`}
	s.want(t, statemodel.Op{Kind: "put", Body: full}, "")
	s.want(t, empty, fault.WriteHeld)
	s.want(t, empty, fault.WriteHeld)
	found, err := store.Candidates(t.Context(), ref, "", 9)
	if err != nil || len(found) != 1 || found[0].Source != state.Held || found[0].Warnings != state.WarnEmptied {
		t.Fatalf("the candidates are %+v, %v", found, err)
	}
	current, err := store.Current(t.Context(), ref)
	if err != nil || string(current.Body) != full {
		t.Fatalf("the guarded state is %.100q, %v", current.Body, err)
	}
	if _, err := s.service.Promote(t.Context(), s.caller, ref.Name, found[0].ID, state.Decision{}); err != nil {
		t.Fatal(err)
	}
	current, err = store.Current(t.Context(), ref)
	if err != nil || string(current.Body) != empty.Body || current.Number != 2 {
		t.Errorf("the promoted state is %+v, %v", current, err)
	}
	wantCandidates(t, store, ref, 0)
}
