package runs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// lending is a bench on which an organization has a pool with an agent, and another one has none.
type lending struct {
	*bench
	log           *heard
	lender, other auth.Principal
	agent, secret string
}

func lends(t *testing.T) *lending {
	b, log := recorded(t)
	l := &lending{bench: b, log: log, lender: owner(uuid.New()), other: owner(uuid.New())}
	_, token, err := b.CreatePool(t.Context(), l.lender, "eu", []string{"w1*"})
	b.must(err)
	agent, secret, err := b.Register(t.Context(), l.lender, token, api.AgentRegistration{Name: "host"})
	b.must(err)
	l.agent, l.secret = agent.ID, secret
	return l
}

// claim has the agent claim, and returns whose run it has got; uuid.Nil for none.
func (l *lending) claim() uuid.UUID {
	l.t.Helper()
	key := uuid.NewString()
	worker, err := l.WorkerOf(l.t.Context(), l.agent, l.secret, api.AgentClaim{Key: key})
	l.must(err)
	got, err := l.Claim(l.t.Context(), worker, api.AgentClaim{Key: key})
	l.must(err)
	if got == nil {
		return uuid.Nil
	}
	return uuid.MustParse(got.Org)
}

func (l *lending) wait(org uuid.UUID, ids ...string) {
	l.t.Helper()
	for _, id := range ids {
		l.waits(org, id, runs.Plan, "eu")
	}
	l.Workspaces.(*settled).now.Pool = "eu"
}

// The agents of a pool work for another organization once both have said so, within what both have
// said, and no longer than that.
func TestPoolsAreLentByBoth(t *testing.T) {
	l := lends(t)
	ctx := t.Context()
	ours := "01N000000000000000001110"
	l.wait(l.other.Org, ours+"11", ours+"12", ours+"13", "01N00000000000000000222000")
	if got := l.claim(); got != uuid.Nil {
		t.Fatalf("nobody has lent anything, and the agent has a run of %s", got)
	}
	accept := func(workspaces ...string) error {
		_, err := l.AcceptPool(ctx, l.other, "eu", l.lender.Org, workspaces)
		return err
	}
	if err := accept(); !fault.Is(err, fault.PoolNotFound) {
		t.Fatalf("accepting what nobody lends: %v", err)
	}
	_, err := l.GrantPool(ctx, l.lender, "eu", l.other.Org, []string{"w111*"})
	l.must(err)
	if got := l.claim(); got != uuid.Nil {
		t.Fatalf("nobody has accepted anything, and the agent has a run of %s", got)
	}
	l.must(accept())
	if err := l.Serves(ctx, l.other.Org, "eu", "w111011"); err != nil {
		t.Errorf("its workspace is not served: %v", err)
	}
	if err := l.Serves(ctx, l.other.Org, "eu", "w222000"); !fault.Is(err, fault.PoolOther) {
		t.Errorf("another workspace: %v", err)
	}
	if got := l.claim(); got != l.other.Org {
		t.Fatalf("the agent has a run of %s", got)
	}
	_, err = l.ConfigurePool(ctx, l.other, "eu", []string{"none"})
	l.must(err)
	if got := l.claim(); got != uuid.Nil {
		t.Fatalf("the other side serves no such workspace, and the agent has a run of %s", got)
	}
	_, err = l.ConfigurePool(ctx, l.other, "eu", nil)
	l.must(err)
	_, err = l.RevokePool(ctx, l.lender, "eu", l.other.Org)
	l.must(err)
	if got := l.claim(); got != uuid.Nil {
		t.Fatalf("it is lent no more, and the agent has a run of %s", got)
	}
	if err := l.Serves(ctx, l.other.Org, "eu", "w111011"); !fault.Is(err, fault.PoolOther) {
		t.Errorf("its workspace, revoked: %v", err)
	}
	_, err = l.GrantPool(ctx, l.lender, "eu", l.other.Org, nil)
	l.must(err)
	if got := l.claim(); got != l.other.Org {
		t.Fatalf("lent again, the agent has a run of %s", got)
	}
	l.must(l.RemovePool(ctx, l.other, "eu"))
	if got := l.claim(); got != uuid.Nil {
		t.Fatalf("the other side wants it no more, and the agent has a run of %s", got)
	}
	var said []audit.Action
	for _, e := range l.log.all {
		if e.Org == l.other.Org && e.Action == audit.PoolAccept || e.Org == l.lender.Org &&
			(e.Action == audit.PoolGrant || e.Action == audit.PoolRevoke) {
			said = append(said, e.Action)
		}
	}
	if !slices.Equal(said, []audit.Action{audit.PoolGrant, audit.PoolAccept, audit.PoolRevoke, audit.PoolGrant}) {
		t.Errorf("on record is %v", said)
	}
}

// Who is lent a pool takes turns with who lends it.
func TestLentPoolsTakeTurns(t *testing.T) {
	l := lends(t)
	_, err := l.GrantPool(t.Context(), l.lender, "eu", l.other.Org, nil)
	l.must(err)
	_, err = l.AcceptPool(t.Context(), l.other, "eu", l.lender.Org, nil)
	l.must(err)
	l.wait(l.lender.Org, "01N00000000000000000111000", "01N00000000000000000111001", "01N00000000000000000111002")
	l.wait(l.other.Org, "01P00000000000000000111000", "01P00000000000000000111001")
	var got []uuid.UUID
	for range 5 {
		got = append(got, l.claim())
	}
	if want := []uuid.UUID{l.lender.Org, l.other.Org, l.lender.Org, l.other.Org, l.lender.Org}; !slices.Equal(got, want) {
		t.Errorf("the turns are %v", got)
	}
}

// A pool can't be had by saying that it is lent, nor can what is lent be given on.
func TestNobodyHelpsThemselvesToPools(t *testing.T) {
	l := lends(t)
	ctx := t.Context()
	third := owner(uuid.New())
	_, err := l.GrantPool(ctx, l.lender, "eu", l.other.Org, nil)
	l.must(err)
	for what, err := range map[string]error{
		"a third one": second(l.AcceptPool(ctx, third, "eu", l.lender.Org, nil)),
		"of nobody":   second(l.AcceptPool(ctx, l.other, "eu", uuid.New(), nil)),
		"another one": second(l.AcceptPool(ctx, l.other, "us", l.lender.Org, nil)),
	} {
		if !fault.Is(err, fault.PoolNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = l.AcceptPool(ctx, l.other, "eu", l.lender.Org, nil)
	l.must(err)
	if _, err := l.GrantPool(ctx, l.other, "eu", third.Org, nil); !fault.Is(err, fault.PoolNotFound) {
		t.Errorf("given on: %v", err)
	}
	if _, err := l.AcceptPool(ctx, third, "eu", l.other.Org, nil); !fault.Is(err, fault.PoolNotFound) {
		t.Errorf("of who borrows it: %v", err)
	}
	if _, _, err := l.RotatePool(ctx, l.other, "eu"); !fault.Is(err, fault.RunInvalid) {
		t.Errorf("a token of one's own for it: %v", err)
	}
	if _, err := l.GrantPool(ctx, l.lender, "eu", l.lender.Org, nil); !fault.Is(err, fault.RunInvalid) {
		t.Errorf("to oneself: %v", err)
	}
	writer := auth.Principal{Org: l.other.Org, KeyID: "w", Grant: auth.Grant{Role: auth.Writer}}
	if _, err := l.AcceptPool(ctx, writer, "eu", l.lender.Org, nil); !fault.Is(err, fault.RightMissing) {
		t.Errorf("by who may not manage agents: %v", err)
	}
	// A pool of one's own by the name of one that is lent is another one.
	l.must(l.RemovePool(ctx, l.other, "eu"))
	_, _, err = l.CreatePool(ctx, l.other, "eu", nil)
	l.must(err)
	l.wait(l.other.Org, "01N00000000000000000111000")
	if got := l.claim(); got != uuid.Nil {
		t.Errorf("the lender's agent has a run of %s", got)
	}
}

func second[T any](_ T, err error) error { return err }

// What an agent has of another organization when its pool is lent no more goes on to its end: the agent
// is given it again when it comes back, and is proven dead when its machine was started anew.
func TestAgentKeepsWhatItHasWhenALoanEnds(t *testing.T) {
	for name, end := range map[string]func(l *lending) error{
		"revoked": func(l *lending) error {
			_, err := l.RevokePool(l.t.Context(), l.lender, "eu", l.other.Org)
			return err
		},
		"removed": func(l *lending) error { return l.RemovePool(l.t.Context(), l.other, "eu") },
	} {
		t.Run(name, func(t *testing.T) {
			l := lends(t)
			ctx := t.Context()
			_, err := l.GrantPool(ctx, l.lender, "eu", l.other.Org, nil)
			l.must(err)
			_, err = l.AcceptPool(ctx, l.other, "eu", l.lender.Org, nil)
			l.must(err)
			const id = "01N00000000000000000111000"
			l.waits(l.other.Org, id, runs.Apply, "eu")
			l.Workspaces.(*settled).now.Pool = "eu"
			claim := func(boot string) *api.Assignment {
				claim := api.AgentClaim{Key: "k", BootID: boot}
				worker, err := l.WorkerOf(ctx, l.agent, l.secret, claim)
				l.must(err)
				got, err := l.Claim(ctx, worker, claim)
				l.must(err)
				return got
			}
			if got := claim("before"); got == nil || got.Run != id {
				t.Fatalf("the agent has %+v", got)
			}
			l.must(end(l))
			if got := claim("before"); got == nil || got.Run != id {
				t.Fatalf("when it comes back, the agent has %+v", got)
			}
			ref := runs.Ref{Org: l.other.Org, ID: id}
			_, err = l.Store.Update(ctx, ref, func(r runs.Run) (runs.Change, error) {
				r.Status, r.Stage, r.Touched, r.LeaseUntil = runs.Orphaned, runs.ApplyStage, true, time.Time{}
				return runs.Change{Run: r}, nil
			})
			l.must(err)
			claim("after")
			run, err := l.Store.Run(ctx, ref)
			if l.must(err); run.Status != runs.Failed {
				t.Errorf("with its machine started anew, the run is %s", run.Status)
			}
		})
	}
}

// An agent that waits with a claim while its pool is taken away, or serves or is lent otherwise, gets nothing that it
// would not be given if it came anew.
func TestAgentsThatWaitAreRecognisedAgain(t *testing.T) {
	ours := "01N000000000000000001110"
	for name, test := range map[string]struct {
		change  func(l *lending) error
		refused bool
	}{
		"lent no more": {func(l *lending) error {
			_, err := l.RevokePool(t.Context(), l.lender, "eu", l.other.Org)
			return err
		}, false},
		"serves others": {func(l *lending) error {
			_, err := l.ConfigurePool(t.Context(), l.other, "eu", []string{"x"})
			return err
		}, false},
		"accepted no more": {func(l *lending) error { return l.RemovePool(t.Context(), l.other, "eu") }, false},
		"made anew": {func(l *lending) error {
			if err := l.RemovePool(t.Context(), l.lender, "eu"); err != nil {
				return err
			}
			if _, _, err := l.CreatePool(t.Context(), l.lender, "eu", []string{"w1*"}); err != nil {
				return err
			}
			_, err := l.GrantPool(t.Context(), l.lender, "eu", l.other.Org, nil)
			return err
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := lends(t)
			_, err := l.GrantPool(t.Context(), l.lender, "eu", l.other.Org, nil)
			l.must(err)
			_, err = l.AcceptPool(t.Context(), l.other, "eu", l.lender.Org, nil)
			l.must(err)
			claim := api.AgentClaim{Key: "waits"}
			worker, err := l.WorkerOf(t.Context(), l.agent, l.secret, claim)
			l.must(err)
			l.must(test.change(l))
			l.wait(l.other.Org, ours+"11")
			got, err := l.Claim(t.Context(), worker, claim)
			if got != nil || fault.Is(err, fault.CredentialsWrong) != test.refused || !test.refused && err != nil {
				t.Errorf("it got %+v, %v", got, err)
			}
		})
	}
}
