package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
)

// A layer that is made, or moved, while a pull request is open is planned at the next look.
func TestLayersThatComeLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.affected, w.defined = nil, map[string]string{"other": "envs/other"}
	w.look()
	if len(w.made) != 0 {
		t.Fatalf("%+v", w.made)
	}
	w.affected = []string{"prod/network"}
	w.defined = map[string]string{"other": "envs/other", "prod/network": "envs/net"}
	w.says("ann", "holdfast plan")
	if len(w.made) != 1 {
		t.Fatalf("a layer that came later is not planned: %s", w.comment())
	}
	w.made[0].end("c1")
	w.look()
	w.look()
	if len(w.made) != 1 {
		t.Fatalf("the same is planned again: %+v", w.made)
	}
	w.defined["prod/network"] = "envs/net2"
	w.look()
	if len(w.made) != 2 {
		t.Error("a layer that has moved is not planned again")
	}
	w.affected = nil
	w.defined["prod/network"] = "envs/net3"
	w.look()
	if p := w.pull(); len(p.Plans) != 0 || !w.made[1].dropped {
		t.Errorf("%+v, %+v", p.Plans, w.made[1])
	}
}

func TestCommandsAreTakenInAnyCase(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]pulls.Command{
		"Holdfast plan":                   {Verb: "plan"},
		"HOLDFAST Apply prod/Net":         {Verb: "apply", Layer: "prod/Net"},
		"`holdfast plan`":                 {Verb: "plan"},
		" `Holdfast apply ABCDEF0123` \n": {Verb: "apply", Digest: "abcdef0123"},
	} {
		if got, ok := pulls.ParseCommand(body); !ok || got != want {
			t.Errorf("%q: %+v, %t", body, got, ok)
		}
	}
	for _, body := range []string{"> holdfast plan", "```\nholdfast plan\n```", "    holdfast plan", "`holdfast` plan",
		"please holdfast plan", "``holdfast plan``"} {
		if got, ok := pulls.ParseCommand(body); ok {
			t.Errorf("%q: %+v", body, got)
		}
	}
}

// What begins as a command and is none gets one line of help: each comment once, and the newest alone.
func TestUnknownCommandsAreAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.look()
	w.says("ann", "talk of holdfast")
	if strings.Contains(w.comment(), "no command") {
		t.Error(w.comment())
	}
	w.says("ann", "holdfast unlock")
	want(t, w.comment(), "`holdfast unlock`", "that is no command; there are `holdfast plan` and `holdfast apply`")
	w.says("bob", "Holdfast destroy @all `x`")
	w.look()
	if got := w.comment(); strings.Count(got, "no command") != 1 || strings.Contains(got, "unlock") ||
		!strings.Contains(got, "Holdfast destroy") {
		t.Error(got)
	}
	if len(w.made) != 1 {
		t.Errorf("%+v", w.made)
	}
}

// More layers than are planned are named with their number.
func TestMoreLayersThanArePlanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.affected = nil
	for i := range 103 {
		w.affected = append(w.affected, fmt.Sprintf("l%03d", i))
	}
	w.look()
	want(t, w.comment(), "3 layers more are affected and not planned")
}

// A plan that lacks what the base has done, and does not merge with it, says so, and is not applied before the branch
// has it.
func TestBranchBehindItsBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.settings.Apply, w.base, w.apart = "write", "c1", "div/a.tf"
	w.look()
	w.made[0].end("c1")
	w.look()
	if strings.Contains(w.comment(), "**behind") {
		t.Error(w.comment())
	}
	w.base, w.behind = "c2", map[string]string{"prod/network": "div/b.tf"}
	w.says("ana", "holdfast apply")
	want(t, w.comment(), "**behind main**, which has changed `div/b.tf`", "It lacks a commit of main.",
		"don't merge by themselves (`div/a.tf`)", "refused: the branch lacks commits of main")
	if len(w.made) != 1 {
		t.Fatalf("%+v", w.made)
	}
	w.behind = nil // the branch has merged its base
	w.push(two)
	w.made[1].end("c2")
	w.look()
	w.says("ana", "holdfast apply")
	if len(w.made) != 3 || w.made[2].order.Kind != "apply" {
		t.Fatalf("%s", w.comment())
	}
	// While the apply waits for people, the base goes on.
	w.made[2].Decide = true
	w.base, w.behind = "c3", map[string]string{"prod/network": "div/c.tf"}
	w.look()
	if !w.made[2].dropped || w.made[2].confirmed != "" {
		t.Errorf("%+v, %s", w.made[2], w.comment())
	}
}

// A branch that is behind its base has planned what a merge would give, and anew when the base changes the layer again.
func TestPlanOfAMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.settings.Apply, w.base = "write", "c1"
	w.behind = map[string]string{"prod/network": "div/b.tf", "prod/dns": "dns/a.tf"}
	w.look()
	if len(w.made) != 1 || !strings.HasSuffix(w.made[0].order.Snapshot, w.head()+"c1") {
		t.Fatalf("it is made of %+v", w.made)
	}
	want(t, w.made[0].order.Message, "merged into main at c1")
	w.made[0].end("x")
	w.look()
	want(t, w.comment(), "It lacks 2 commits of main. What a merge would give is planned.")
	if strings.Contains(w.comment(), "**behind") {
		t.Error(w.comment())
	}
	w.base = "c2" // which changes another layer
	w.look()
	if len(w.made) != 1 {
		t.Fatalf("it is planned anew: %+v", w.made)
	}
	w.base, w.changed = "c3", map[string]string{"prod/network": "div/c.tf"}
	w.says("ana", "holdfast apply")
	want(t, w.comment(), "refused: there is no plan yet")
	if len(w.made) != 2 || w.made[1].order.Kind != "plan" || !strings.HasSuffix(w.made[1].order.Snapshot, w.head()+"c3") {
		t.Fatalf("%+v", w.made)
	}
	w.changed = nil
	w.made[1].end("y")
	w.look()
	w.says("ana", "holdfast apply")
	if len(w.made) != 3 || w.made[2].order.Kind != "apply" || w.made[2].order.Snapshot != w.made[1].order.Snapshot {
		t.Fatalf("%s\n%+v", w.comment(), w.made)
	}
	// While the apply waits for people, the base goes on.
	w.made[2].Decide = true
	w.base, w.changed = "c4", map[string]string{"prod/network": "div/d.tf"}
	w.look()
	if !w.made[2].dropped || w.made[2].confirmed != "" || len(w.made) != 4 || w.made[3].order.Kind != "plan" {
		t.Errorf("%+v, %s", w.made[2], w.comment())
	}
}

// What was to be merged, or was, and does not merge any more has the head alone planned, and is not applied.
func TestMergesNoMore(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]bool{"planned": true, "not begun": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, forge.GitHub)
			w.settings.Apply, w.base = "write", "c1"
			w.behind = map[string]string{"prod/network": "div/b.tf"}
			if !begun {
				w.away = fault.New(fault.Overloaded, "later")
			}
			w.look()
			if begun {
				w.made[0].end("x")
				w.look()
			}
			w.away, w.base, w.apart = nil, "c2", "div/b.tf"
			w.changed = map[string]string{"prod/network": "div/b.tf"}
			w.look()
			last := len(w.made) - 1
			if last < 0 || begun && last != 1 || w.made[last].order.Snapshot != "beside-prod/network"+w.head() {
				t.Fatalf("%+v", w.made)
			}
			w.made[last].end("y")
			w.look()
			w.says("ana", "holdfast apply")
			w.look()
			want(t, w.comment(), "so the head alone is planned", "**behind main**",
				"refused: the branch lacks commits of main")
			if len(w.made) != last+1 {
				t.Errorf("it is planned without end, or applied: %+v", w.made)
			}
		})
	}
}

// What has the base's commit as it is applied stays applied, and the base may go on.
func TestTheBaseGoesOnBehindAnApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.settings.Apply, w.base = "write", "c1"
	w.look()
	w.made[0].end("x")
	w.look()
	w.says("ana", "holdfast apply")
	w.made[1].end("x")
	w.look()
	w.base, w.behind = "c2", map[string]string{"prod/network": "div/b.tf"}
	w.look()
	if len(w.made) != 2 {
		t.Errorf("it is planned anew: %+v", w.made)
	}
	want(t, w.comment(), "apply by ana: done", "**behind main**")
	w.says("ana", "holdfast plan")
	w.look()
	if len(w.made) != 3 || !strings.HasSuffix(w.made[2].order.Snapshot, w.head()+"c2") {
		t.Errorf("%+v", w.made)
	}
}

// By the settings the head alone is planned, and not applied where it is behind.
func TestPlanOfTheHeadAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forge.GitHub)
	w.settings.Apply, w.settings.HeadAlone, w.base = "write", true, "c1"
	w.behind = map[string]string{"prod/network": "div/b.tf"}
	w.look()
	w.made[0].end("x")
	w.look()
	w.says("ana", "holdfast apply")
	want(t, w.comment(), "The head alone is planned", "**behind main**", "refused: the branch lacks commits of main")
	if len(w.made) != 1 || !strings.HasSuffix(w.made[0].order.Snapshot, w.head()) {
		t.Fatalf("%+v", w.made)
	}
	w.settings.HeadAlone = false
	w.look()
	if len(w.made) != 2 || !strings.HasSuffix(w.made[1].order.Snapshot, w.head()+"c1") {
		t.Errorf("with another setting: %+v", w.made)
	}
}

// head is that of the pull request.
func (w *world) head() (head string) {
	w.there.Do(func() { head = w.there.Pulls[7].Head })
	return head
}
