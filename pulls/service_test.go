package pulls_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
)

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

// A pull request is planned, its commit has a status and it a comment; another push makes the plan stale,
// and the same comment says what is planned then; the merge is the end.
func TestPullRequestIsPlanned(t *testing.T) {
	for _, provider := range forge.Providers() {
		t.Run(string(provider), func(t *testing.T) {
			w := newWorld(t, provider)
			one := w.there.Pulls[7].Head
			w.look()
			if len(w.made) != 1 || w.made[0].order.Kind != "plan" || w.made[0].of.Withhold || w.made[0].of.Commit != one {
				t.Fatalf("%+v", w.made)
			}
			want(t, w.comment(), "prod/network", "running", "https://holdfast.example/ui/runs/RUN0")
			if s := w.status(one); s.State != forge.Pending || s.Context != "holdfast/prod/network" {
				t.Errorf("%+v", s)
			}
			w.made[0].end("c1")
			w.look()
			want(t, w.comment(), "planned", "1 to add")
			if s := w.status(one); s.State != forge.Success || !strings.Contains(s.Description, "1 to add") {
				t.Errorf("%+v", s)
			}
			calls := 0
			w.there.Do(func() { calls = len(w.there.Statuses) })
			w.look()
			w.there.Do(func() {
				if len(w.there.Statuses) != calls {
					t.Error("the same is told again")
				}
			})
			w.push(two)
			if len(w.made) != 2 || w.made[1].of.Commit != two || !w.made[0].dropped {
				t.Fatalf("%+v", w.made)
			}
			w.made[1].Ended, w.made[1].Reason = true, "no such variable @team"
			w.look()
			want(t, w.comment(), two[:12], "failed", "no such variable")
			if s := w.status(two); s.State != forge.Failure {
				t.Errorf("%+v", s)
			}
			w.there.Do(func() { w.there.Pulls[7].State = forge.Merged })
			w.look()
			if p := w.pull(); !p.Closed {
				t.Errorf("%+v", p)
			}
			w.jump(100 * time.Hour)
			if due, err := w.Store.Due(t.Context(), w.Now(), 9); err != nil || len(due) > 0 {
				t.Error("what is over is looked at still", due, err)
			}
		})
	}
}

// A fork's commit is planned when somebody who may has named it, and no other one. Bitbucket takes no status of it.
func TestForkWaitsForPermission(t *testing.T) {
	for _, provider := range forge.Providers() {
		t.Run(string(provider), func(t *testing.T) { forkWaits(t, provider) })
	}
}

func forkWaits(t *testing.T, provider forge.Provider) {
	w := newWorld(t, provider)
	w.there.Pulls[7].Fork = true
	one := w.there.Pulls[7].Head
	w.look()
	want(t, w.comment(), "Nothing is planned", "fork", "holdfast plan "+one[:12])
	if s := w.status(one); provider != forge.Bitbucket &&
		(s.State != forge.Pending || !strings.Contains(s.Description, "fork")) {
		t.Errorf("%+v", s)
	}
	w.says("eve", "holdfast plan "+one)
	w.says("ana", "looks good, holdfast plan "+one)
	if len(w.made) > 0 {
		t.Fatal("a fork was planned")
	}
	want(t, w.comment(), "eve", "refused: who comments so needs the permission write")
	w.says("bob", "holdfast plan "+one[:12])
	if len(w.made) != 1 || !w.made[0].of.Withhold {
		t.Fatalf("%+v", w.made)
	}
	w.push(two)
	w.look()
	if len(w.made) != 1 {
		t.Error("another commit of the fork was planned by the permission of the one before")
	}
	w.says("ana", "holdfast plan "+two)
	if len(w.made) != 2 || !w.made[1].of.Withhold {
		t.Fatalf("%+v", w.made)
	}
}

func TestApplyByComment(t *testing.T) {
	w := newWorld(t, forge.GitLab)
	w.settings.Apply = "admin"
	w.look()
	w.made[0].end("c1")
	w.look()
	w.says("bob", "holdfast apply")
	if len(w.made) != 1 {
		t.Fatal("somebody applied who may not")
	}
	w.says("ana", "holdfast apply prod/network")
	w.look()
	w.look()
	if len(w.made) != 2 || w.made[1].order.Kind != "apply" || w.made[1].order.Snapshot != w.made[0].order.Snapshot {
		t.Fatalf("%+v", w.made)
	}
	apply := w.made[1]
	apply.end("c1")
	apply.Ended, apply.Decide, apply.Digest = false, true, strings.Repeat("e2", 32)
	w.look()
	if apply.confirmed != apply.Digest {
		t.Error("it was not confirmed")
	}
	want(t, w.comment(), "apply by ana: deciding")
	apply.end("c1")
	w.look()
	want(t, w.comment(), "apply by ana: done")
	if s := w.status(w.there.Pulls[7].Head); s.Description != "applied" {
		t.Errorf("%+v", s)
	}
}

func TestApplyOfSomethingElse(t *testing.T) {
	w := newWorld(t, forge.GitHub)
	w.settings.Apply = "admin"
	w.look()
	w.made[0].end("c1")
	w.look()
	w.says("ana", "holdfast apply")
	apply := w.made[1]
	apply.end("another change")
	apply.Ended, apply.Decide = false, true
	w.look()
	if apply.confirmed != "" || !apply.dropped {
		t.Errorf("%+v", apply)
	}
	want(t, w.comment(), "undone", "not what the plan said")
}

// What somebody has asked to be applied, and could not be begun then, is not begun when it may not be any more.
func TestApplyThatMayNotBeginAnyMore(t *testing.T) {
	for name, change := range map[string]func(*world){
		"closed":              func(w *world) { w.there.Do(func() { w.there.Pulls[7].State = forge.Closed }) },
		"no applies any more": func(w *world) { w.settings.Apply = "" },
		"another branch":      func(w *world) { w.settings.Branch = "release" },
	} {
		w := newWorld(t, forge.GitHub)
		w.settings.Apply = "write"
		w.look()
		w.made[0].end("c1")
		w.look()
		w.away = errors.New("the database is away")
		w.says("bob", "holdfast apply")
		if len(w.made) != 1 || w.pull().Plans[0].Apply == nil {
			t.Fatalf("%s: %+v", name, w.pull().Plans)
		}
		w.away = nil
		change(w)
		w.jump(time.Hour)
		w.look()
		w.look()
		if len(w.made) != 1 {
			t.Errorf("%s: a run of the kind %s was begun", name, w.made[1].order.Kind)
		}
		if applied := w.pull().Plans[0].Apply; applied.Status != pulls.Stale || applied.Reason == "" {
			t.Errorf("%s: %+v", name, applied)
		}
	}
}

// An apply whose plan is confirmed, and that waits for an executor, is dropped when nothing of its pull request may be
// applied any more. One that has begun goes on, and so does that of a pull request that was merged.
func TestApplyThatIsConfirmedAndHasNotBegun(t *testing.T) {
	closed := func(w *world) { w.there.Do(func() { w.there.Pulls[7].State = forge.Closed }) }
	for name, c := range map[string]struct {
		change  func(*world)
		begun   bool
		dropped bool
	}{
		"closed":            {closed, false, true},
		"closed, and begun": {closed, true, false},
		"merged": {func(w *world) { w.there.Do(func() { w.there.Pulls[7].State = forge.Merged }) }, false,
			false},
		"another commit":      {func(w *world) { w.there.Do(func() { w.there.Pulls[7].Head = two }) }, false, true},
		"no applies any more": {func(w *world) { w.settings.Apply = "" }, false, true},
		"another branch":      {func(w *world) { w.settings.Branch = "release" }, false, true},
		"nothing":             {func(*world) {}, false, false},
	} {
		w := newWorld(t, forge.GitHub)
		w.settings.Apply = "write"
		w.look()
		w.made[0].end("c1")
		w.look()
		w.says("bob", "holdfast apply")
		apply := w.made[1]
		apply.end("c1")
		apply.Ended, apply.Good, apply.Confirmed = false, false, !c.begun
		w.look()
		if apply.dropped {
			t.Fatalf("%s: it was dropped before", name)
		}
		c.change(w)
		w.look()
		if applied := w.pull().Plans[0].Apply; apply.dropped != c.dropped ||
			c.dropped && (applied.Status != pulls.Stale || applied.Reason == "") {
			t.Errorf("%s: dropped %t, %+v", name, apply.dropped, applied)
		}
	}
}

// A run that has begun to apply when it is to be dropped is followed to its end.
func TestApplyThatBeginsWhenItIsToBeDropped(t *testing.T) {
	w := newWorld(t, forge.GitHub)
	w.settings.Apply = "write"
	w.look()
	w.made[0].end("c1")
	w.look()
	w.says("bob", "holdfast apply")
	apply := w.made[1]
	apply.end("c1")
	apply.Ended, apply.Good, apply.Confirmed = false, false, true
	w.undroppable = fault.New(fault.RunStatus, "a run that is applying can't be discarded")
	w.there.Do(func() { w.there.Pulls[7].State = forge.Closed })
	w.look()
	if applied := w.pull().Plans[0].Apply; applied.Status != pulls.Running {
		t.Errorf("%+v", applied)
	}
	apply.Confirmed = false
	apply.end("c1")
	w.look()
	if applied := w.pull().Plans[0].Apply; applied.Status != pulls.Done {
		t.Errorf("%+v", applied)
	}
}

func TestForgeThatWantsToBeLeftAlone(t *testing.T) {
	w := newWorld(t, forge.Gitea)
	w.there.Answer = func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Retry-After", "120")
		rw.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	f, err := forge.New(forge.Config{Provider: forge.Gitea, API: w.there.URL, Repository: "acme/network", Token: "t",
		Transport: http.DefaultTransport, Now: w.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.forge = f
	w.look()
	calls := 0
	w.there.Do(func() { calls = len(w.there.Calls) })
	w.jump(115 * time.Second)
	if err := w.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.there.Do(func() {
		if len(w.there.Calls) != calls {
			t.Error("the forge was asked before it wanted to be")
		}
	})
	w.jump(10 * time.Second)
	if err := w.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.there.Do(func() {
		if len(w.there.Calls) == calls {
			t.Error("the forge was not asked again")
		}
	})
}

// Wherever a process dies, the next one makes no run, comment or apply a second time, and ends where it
// would have ended.
func TestProcessDiesAnywhere(t *testing.T) {
	for saves := range 12 {
		w := newWorld(t, forge.GitHub)
		w.settings.Apply = "write"
		w.affected = []string{"a", "b"}
		w.saves = saves
		step := func(do func()) {
			do()
			for range 3 {
				if w.saves == 0 { // another process takes over when the claim is over
					w.saves = -1
					w.jump(11 * time.Minute)
				}
				w.look()
			}
		}
		step(w.look)
		for _, r := range w.made {
			r.end("c")
		}
		step(func() { w.says("bob", "holdfast apply") })
		for _, r := range w.made[2:] {
			r.end("c")
			r.Ended, r.Decide = false, true
		}
		step(w.look)
		for _, r := range w.made[2:] {
			r.end("c")
		}
		step(w.look)
		kinds := ""
		for _, r := range w.made {
			kinds += r.order.Kind + " "
		}
		if kinds != "plan plan apply apply " {
			t.Errorf("after %d saves: %s", saves, kinds)
		}
		for _, plan := range w.pull().Plans {
			if plan.Apply == nil || plan.Apply.Status != pulls.Done {
				t.Errorf("after %d saves: %+v", saves, plan)
			}
		}
		want(t, w.comment(), "apply by bob: done", "2 to apply")
	}
}
