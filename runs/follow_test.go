package runs_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// away are workspaces that can't be asked now and then.
type away struct {
	*settled
	err error
}

func (a *away) Workspace(ctx context.Context, org uuid.UUID, name string) (runs.Workspace, error) {
	if a.err != nil {
		return runs.Workspace{}, a.err
	}
	return a.settled.Workspace(ctx, org, name)
}

// following is a bench on which an executor was lost while it applied.
func following(t *testing.T) (*bench, *away) {
	b := withWorkspaces(applying(t), &settled{})
	w := &away{settled: &settled{now: runs.Workspace{Terms: runs.Terms{MaxAttempts: 5}}}}
	d := b.Deps
	d.Workspaces = w
	b.Service = runs.NewService(d)
	_, err := b.Store.Update(t.Context(), b.run.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Executor.BootID, r.Planned = "before", 1
		return runs.Change{Run: r}, nil
	})
	b.must(err)
	return b, w
}

// A run whose follower is not made yet is not removed before that, neither for the room of another nor
// because it is old.
func TestRunIsNotForgottenBeforeItsFollower(t *testing.T) {
	for name, remove := range map[string]func(b *bench) error{
		"for another run": func(b *bench) error {
			_, err := b.Create(b.t.Context(), owner(b.run.Org), api.RunOrder{Workspace: "b", Kind: "plan", Snapshot: "s"}, "")
			return err
		},
		"of age": func(b *bench) error {
			b.now = b.now.Add(1000 * 24 * time.Hour)
			return b.Retain(b.t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, w := following(t)
			w.now.Snapshot = "s"
			b.Limits.Stored = 1
			_, err := b.Store.Update(t.Context(), b.run.Ref(), func(r runs.Run) (runs.Change, error) {
				r.Status, r.LeaseUntil, r.FinishedAt, r.StartedAt = runs.Failed, time.Time{}, b.now, b.now
				r.Follow = &runs.Follow{ID: "01M00000000000000000000009", Kind: runs.Drift}
				return runs.Change{Run: r}, nil
			})
			b.must(err, remove(b))
			if _, err := b.Store.Run(t.Context(), b.run.Ref()); !fault.Is(err, fault.RunNotFound) {
				t.Errorf("the old run: %v", err)
			}
			if made := b.behind(); len(made) != 1 || made[0].ID != "01M00000000000000000000009" {
				t.Errorf("behind it there is %v", made)
			}
		})
	}
}

// behind are the runs that the server has made.
func (b *bench) behind() (made []runs.Run) {
	b.t.Helper()
	page, err := b.Store.List(b.t.Context(), runs.Query{Org: b.run.Org, Limit: 100})
	b.must(err)
	return slices.DeleteFunc(page.Runs, func(r runs.Run) bool { return r.Follows == "" })
}

// The look at what a dead apply has left is made once, though the server dies right behind the
// verdict, and whoever repeats it.
func TestDriftBehindADeadApply(t *testing.T) {
	b, w := following(t)
	b.sweeps(benchLease + 5*time.Second)
	if b.status() != runs.Orphaned {
		t.Fatalf("the run is %s", b.status())
	}
	w.err = fault.New(fault.StoreUnavailable, "the database is away")
	b.must(b.ProveDead(t.Context(), []uuid.UUID{b.run.Org}, "x", "after"))
	if b.status() != runs.Failed || len(b.behind()) > 0 || b.state.open || b.state.fence != 3 {
		t.Fatalf("the run is %s, its fence %+v, %d follow", b.status(), b.state, len(b.behind()))
	}
	if err := b.Sweep(t.Context()); err == nil {
		t.Error("nobody hears that the drift could not be made")
	}
	w.err = nil
	for range 3 {
		b.must(b.Sweep(t.Context()), b.ProveDead(t.Context(), []uuid.UUID{b.run.Org}, "x", "after"))
	}
	made := b.behind()
	if len(made) != 1 || made[0].Kind != runs.Drift || made[0].Follows != b.run.ID || made[0].Priority != runs.Drifts ||
		!made[0].Trigger.Is(runs.Server()) {
		t.Fatalf("%+v follow", made)
	}
	was, err := b.Store.Run(t.Context(), b.run.Ref())
	b.must(err)
	if !strings.HasPrefix(was.Reason, "apply interrupted at version 0") || !strings.Contains(was.Reason, made[0].ID) ||
		was.Wire().FollowedBy != made[0].ID || made[0].Wire().Follows != was.ID {
		t.Errorf("the run says %q, and is followed by %s", was.Reason, was.Wire().FollowedBy)
	}
	if got := b.claims("k", "", b.run.Org); got == nil || got.Kind != "drift" || got.Run != made[0].ID {
		t.Errorf("claimed %+v", got)
	}
}

// A server that dies between making the following run and noting that makes no other one.
func TestDriftIsMadeOnce(t *testing.T) {
	b, _ := following(t)
	b.sweeps(benchLease + 5*time.Second)
	b.must(b.ProveDead(t.Context(), []uuid.UUID{b.run.Org}, "x", "after"))
	_, err := b.Store.Update(t.Context(), b.run.Ref(), func(r runs.Run) (runs.Change, error) {
		forgotten := *r.Follow
		forgotten.Done, r.Follow = false, &forgotten
		return runs.Change{Run: r}, nil
	})
	b.must(err, b.Sweep(t.Context()), b.Sweep(t.Context()))
	if made := b.behind(); len(made) != 1 {
		t.Errorf("%d follow", len(made))
	}
}

// Without its workspace there is nothing to be compared, and the run says so.
func TestDriftOfNoWorkspace(t *testing.T) {
	b, w := following(t)
	w.err = fault.New(fault.WorkspaceNotFound, "there is none")
	b.sweeps(benchLease + 5*time.Second)
	b.must(b.ProveDead(t.Context(), []uuid.UUID{b.run.Org}, "x", "after"), b.Sweep(t.Context()))
	run, err := b.Store.Run(t.Context(), b.run.Ref())
	b.must(err)
	if len(b.behind()) > 0 || run.Follow != nil ||
		!strings.Contains(run.Reason, "the workspace or its configuration is gone") {
		t.Errorf("the run says %q", run.Reason)
	}
}

// An apply that nobody hears of is resolved in the end, where the operator wants that.
func TestLostAppliesAreResolvedInTheEnd(t *testing.T) {
	b, _ := following(t)
	d := b.Deps
	d.Limits.Orphans = time.Hour
	b.Service = runs.NewService(d)
	b.sweeps(benchLease + 5*time.Second)
	b.sweeps(50 * time.Minute)
	if b.status() != runs.Orphaned {
		t.Fatalf("the run is %s", b.status())
	}
	b.sweeps(15 * time.Minute)
	if b.status() != runs.Failed || b.state.fence != 3 || len(b.behind()) != 1 {
		t.Errorf("the run is %s, its fence %+v", b.status(), b.state)
	}
}

// broken has the run's apply end in an error of a provider.
func (b *bench) broken() {
	b.t.Helper()
	_, err := b.Report(b.t.Context(), b.as, b.run.ID, api.PhaseReport{
		Epoch: 2, Stage: "apply", Attempt: 1, Phase: "apply", Outcome: runs.OutcomeFailed, Class: "provider", ExitCode: 1,
		Last: true,
	})
	b.must(err)
}

// What the server tries again makes way for what people ask for, and for another configuration.
func TestTryingAgainMakesWay(t *testing.T) {
	b, _ := following(t)
	b.broken()
	made := b.behind()
	if len(made) != 1 || made[0].Kind != runs.Apply || made[0].RetryOf != b.run.ID || !made[0].NotBefore.After(b.now) ||
		made[0].Earlier == nil || made[0].Earlier.Planned != 1 {
		t.Fatalf("%+v follow", made)
	}
	p := auth.Principal{Org: b.run.Org, KeyID: "one", Grant: auth.Grant{Role: auth.Writer}}
	b.Workspaces.(*away).now.Snapshot = "other"
	asked, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "")
	b.must(err)
	if again, err := b.Store.Run(t.Context(), made[0].Ref()); err != nil || again.Status != runs.Pending {
		t.Errorf("behind a plan of somebody's it is %s, %v", again.Status, err)
	}
	asked, err = b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "apply"}, "")
	b.must(err)
	again, err := b.Store.Run(t.Context(), made[0].Ref())
	b.must(err)
	if again.Status != runs.Discarded || !strings.Contains(again.Reason, asked.ID) {
		t.Errorf("it is %s: %s", again.Status, again.Reason)
	}

	b, w := following(t)
	b.broken()
	w.now.Snapshot = "other"
	b.now = b.now.Add(time.Hour)
	if got := b.claims("k", "", b.run.Org); got != nil {
		t.Errorf("claimed %+v", got)
	}
	if again, err := b.Store.Run(t.Context(), b.behind()[0].Ref()); err != nil || again.Status != runs.Discarded {
		t.Errorf("with another configuration it is %s, %v", again.Status, err)
	}

	b, w = following(t)
	w.now.Snapshot = "other"
	if b.broken(); len(b.behind()) > 0 {
		t.Error("a configuration that is not the newest is tried again")
	}
}

// What somebody has asked for while the apply went on comes instead of what would be tried again: it
// would make again what they have destroyed. What they took back is in nobody's way.
func TestTryingAgainGivesWay(t *testing.T) {
	p := auth.Principal{Org: uuid.New(), KeyID: "one", Grant: auth.Grant{Role: auth.Writer}}
	for _, cancelled := range []bool{false, true} {
		b, w := following(t)
		w.now.Snapshot, p.Org = "s", b.run.Org
		_, err := b.Store.Update(t.Context(), b.run.Ref(), func(r runs.Run) (runs.Change, error) {
			r.Order.Snapshot = "s"
			return runs.Change{Run: r}, nil
		})
		b.must(err)
		asked, err := b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "destroy"}, "")
		b.must(err)
		want := runs.Discarded
		if cancelled {
			_, err := b.Cancel(t.Context(), p, asked.ID, api.CancelOrder{})
			b.must(err)
			want = runs.Pending
		}
		b.broken()
		made := b.behind()
		if len(made) != 1 || made[0].Status != want || !cancelled && !strings.Contains(made[0].Reason, asked.ID) {
			t.Errorf("cancelled %v: %+v follow", cancelled, made)
		}
	}
}

// A state that the tool could not store is put back by people: a plan of the one before would make
// everything twice.
func TestNothingIsTriedAgainBesideAKeptState(t *testing.T) {
	b, _ := following(t)
	b.must(b.puts(runs.FileErroredState, []byte("{}")))
	b.broken()
	if made := b.behind(); len(made) != 1 || made[0].Kind != runs.Drift {
		t.Errorf("%+v follow", made)
	}
}

// planJSON is what a plan shows that creates these resources.
func planJSON(names ...string) []byte {
	var all []string
	for _, name := range names {
		all = append(all, `{"address":"x.`+name+`","mode":"managed","type":"x","name":"`+name+`","provider_name":"p",`+
			`"change":{"actions":["create"],"before":null,"after":{"input":"`+name+
			`"},"after_unknown":{"id":true},"before_sensitive":false,"after_sensitive":{}}}`)
	}
	return []byte(`{"format_version":"1.2","terraform_version":"1.12.6","resource_changes":[` + strings.Join(all, ",") +
		`],"output_changes":{}}`)
}

// A plan of what is left is compared, value by value, with the one that was applied in part.
func TestWhatIsLeftIsCompared(t *testing.T) {
	for name, c := range map[string]struct{ next, want string }{
		"less":     {"b", ""},
		"the same": {"a b", ""},
		"more":     {"b c", "x.c was not to be changed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := withWorkspaces(newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan), &settled{})
			b.must(b.puts(runs.FilePlanJSON, planJSON("a", "b")))
			approved := b.run
			next := b.run
			next.ID, next.Workspace = "01M00000000000000000000001", "b"
			next.Earlier = &runs.Earlier{Run: approved.ID, Planned: 1}
			var err error
			b.run, err = b.Store.Create(t.Context(), next, "", nil, nil)
			b.must(err)
			b.as.Run.ID = next.ID
			b.must(b.puts(runs.FilePlanJSON, planJSON(strings.Fields(c.next)...)))
			beyond, err := b.BeyondApproved(t.Context(), b.run)
			b.must(err)
			if beyond != c.want {
				t.Errorf("it says %q", beyond)
			}
			b.run.Earlier.Planned = 2
			if beyond, err := b.BeyondApproved(t.Context(), b.run); err != nil || !strings.Contains(beyond, "not kept") {
				t.Errorf("without the approved plan: %q, %v", beyond, err)
			}
		})
	}
}

// late is a store in which a run is found due that another node has just dealt with.
type late struct {
	runs.Store
	run runs.Run
}

func (s late) Due(context.Context, time.Time, runs.Mark, int) ([]runs.Mark, error) {
	return []runs.Mark{{At: s.run.LeaseUntil, Ref: s.run.Ref()}}, nil
}

// Of two nodes that find one executor lost, the second gives its apply no verdict.
func TestTwoNodesFindOneLoss(t *testing.T) {
	b, _ := following(t)
	b.sweeps(benchLease + 5*time.Second)
	d := b.Deps
	d.Store = late{b.Store, b.run}
	b.Service = runs.NewService(d)
	b.must(b.Sweep(t.Context()))
	if b.status() != runs.Orphaned {
		t.Errorf("the run is %s", b.status())
	}
}
