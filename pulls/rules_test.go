package pulls_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
)

var (
	one = strings.Repeat("1a", 20)
	two = strings.Repeat("2b", 20)
	ana = forge.User{ID: "11", Login: "ana"}
	now = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
)

func at(head string) forge.PullRequest {
	return forge.PullRequest{Number: 7, State: forge.Open, Head: head, BaseRef: "main"}
}

func fork(head string) forge.PullRequest {
	p := at(head)
	p.Fork = true
	return p
}

// planned is a pull request whose two layers are planned, the first with changes.
func planned() pulls.Pull {
	p := pulls.Pull{Key: "key"}.See(at(one)).Affects([]string{"b", "a"}, false)
	for i := range p.Plans {
		p.Plans[i].Run, p.Plans[i].Snapshot = "RUN-"+p.Plans[i].Layer, "beside-1"
		p.Plans[i] = p.Plans[i].Planned(pulls.RunFact{Ended: true, Good: true, Changes: "c", Base: "s", Config: "beside-1",
			Digest: "abcdef0123456789", Counts: &api.RunCounts{Add: 1 - i, Any: i == 0}})
	}
	return p
}

func comment(id, body string) forge.Comment {
	return forge.Comment{ID: id, Author: ana, Body: body, Created: now}
}

func last(p pulls.Pull) string {
	if len(p.Answers) == 0 {
		return ""
	}
	return p.Answers[len(p.Answers)-1].Text
}

func TestWhatIsPlanned(t *testing.T) {
	for name, c := range map[string]struct {
		at   forge.PullRequest
		s    pulls.Settings
		want int
	}{
		"open": {at(one), pulls.Settings{Plan: "write"}, 2},
		"off":  {at(one), pulls.Settings{}, 0},
		"merged": {forge.PullRequest{State: forge.Merged, Head: one, BaseRef: "main"},
			pulls.Settings{Plan: "write"}, 0},
		"another branch": {at(one), pulls.Settings{Plan: "write", Branch: "production"}, 0},
		"its branch":     {at(one), pulls.Settings{Plan: "write", Branch: "main"}, 2},
		"a fork":         {fork(one), pulls.Settings{Plan: "write"}, 0},
	} {
		p := pulls.Pull{}.See(c.at).Affects([]string{"b", "a", "b"}, false)
		if got := p.ToPlan(c.s); len(got) != c.want || c.want > 0 && got[0] != "a" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestStale(t *testing.T) {
	p := planned()
	p = p.Obey(comment("1", "holdfast apply a"), forge.Admin, pulls.Settings{Plan: "write", Apply: "admin"}, now)
	p = p.See(at(two))
	if p.Plans[0].Status != pulls.Stale || p.Plans[0].Apply.Status != pulls.Stale || p.Looked != "" ||
		len(p.ToPlan(pulls.Settings{Plan: "write"})) > 0 {
		t.Errorf("%+v", p.Plans)
	}
	if text := p.Text(pulls.Words{}, forge.Limits{Comment: 65536}); !strings.Contains(text, "**stale**") {
		t.Error(text)
	}
	p = p.Affects([]string{"a"}, false)
	if len(p.Plans) != 1 || p.Plans[0].Commit != two || p.Plans[0].Status != pulls.Waiting || p.Plans[0].Run != "" {
		t.Errorf("%+v", p.Plans)
	}
	// Back to the first commit, by a push with force: what was planned of it is planned again.
	if p = p.See(at(one)).Affects([]string{"a"}, false); len(p.ToPlan(pulls.Settings{Plan: "write"})) != 1 {
		t.Errorf("%+v", p.Plans)
	}
}

// A commit is no success where somebody has asked for an apply, and nothing was applied.
func TestStatusOfAnApply(t *testing.T) {
	for status, want := range map[pulls.Status]forge.StatusState{
		pulls.Waiting: forge.Pending, pulls.Running: forge.Pending, pulls.Deciding: forge.Pending, pulls.Done: forge.Success,
		pulls.Failed: forge.Failure, pulls.Undone: forge.Failure,
		pulls.Stale: forge.Success, // of the plan, which is as it was
	} {
		p := planned()
		p.Plans[0].Apply = &pulls.Apply{Status: status, Reason: "because"}
		told := p.StatusOf(p.Plans[0], pulls.Settings{Plan: "write", Apply: "write"}, "")
		if told.State != want || want == forge.Failure && !strings.HasSuffix(told.Description, ": because") {
			t.Errorf("%s: %+v", status, told)
		}
	}
}

func TestForksWait(t *testing.T) {
	p := pulls.Pull{}.See(fork(one)).Affects([]string{"a"}, false)
	s := pulls.Settings{Plan: "write"}
	for body, c := range map[string]struct {
		may    forge.Permission
		answer string
		plans  int
	}{
		"holdfast plan":               {forge.Admin, "say which commit", 0},
		"holdfast plan a":             {forge.Admin, "say which commit", 0},
		"holdfast plan " + two:        {forge.Admin, "at another commit", 0},
		"holdfast plan " + one:        {forge.Read, "needs the permission write", 0},
		"holdfast plan " + one[:8]:    {forge.Write, "1 to plan", 1},
		"holdfast plan a " + one[:12]: {forge.Write, "1 to plan", 1},
		"holdfast plan " + one[:7]:    {forge.Admin, "does not affect", 0}, // too short to name a commit
		"holdfast apply":              {forge.Admin, "let no comment apply", 0},
	} {
		got := p.Obey(comment("1", body), c.may, s, now)
		if !strings.Contains(last(got), c.answer) || len(got.ToPlan(s)) != c.plans {
			t.Errorf("%s: %q, %v", body, last(got), got.ToPlan(s))
		}
	}
	p = p.Obey(comment("1", "holdfast plan "+one), forge.Write, s, now)
	if p.Secret() {
		t.Error("the fork is given what it must not")
	}
	if p = p.See(fork(two)).Affects([]string{"a"}, false); len(p.ToPlan(s)) > 0 {
		t.Error("another commit is planned than was allowed")
	}
	if p = p.See(fork(one)).Affects([]string{"a"}, false); len(p.ToPlan(s)) > 0 {
		t.Error("what was allowed once is allowed again behind another commit")
	}
}

func TestCommands(t *testing.T) {
	const admins, off = "admin", ""
	for _, c := range []struct {
		body   string
		apply  string
		may    forge.Permission
		answer string // empty for none
		layers int    // that are to be applied
	}{
		{"holdfast apply", admins, forge.Admin, "1 to apply", 1},
		{"holdfast apply\n\nthanks", admins, forge.Admin, "1 to apply", 1},
		{"holdfast apply a", admins, forge.Admin, "1 to apply", 1},
		{"holdfast apply a abcdef012345", admins, forge.Admin, "1 to apply", 1},
		{"holdfast apply abcdef012345", admins, forge.Admin, "1 to apply", 1},
		{"holdfast apply a 0123456789ab", admins, forge.Admin, "no plan of this digest", 0},
		{"holdfast apply b", admins, forge.Admin, "nothing to apply", 0},
		{"holdfast apply c", admins, forge.Admin, "does not affect", 0},
		{"holdfast apply", admins, forge.Write, "needs the permission admin", 0},
		{"holdfast apply", "write", forge.Write, "1 to apply", 1},
		{"holdfast apply", off, forge.Admin, "let no comment apply", 0},
		{"holdfast plan", off, forge.Write, "2 to plan", 0},
		{"holdfast plan b", off, forge.Write, "1 to plan", 0},
		{"holdfast plan", off, forge.None, "needs the permission write", 0},
		{"> holdfast apply", admins, forge.Admin, "", 0},
		{"please holdfast apply", admins, forge.Admin, "", 0},
		{"thanks\nholdfast apply", admins, forge.Admin, "", 0},
		{"    holdfast apply", admins, forge.Admin, "", 0},
		{"```\nholdfast apply\n```", admins, forge.Admin, "", 0},
		{"holdfast destroy", admins, forge.Admin, "that is no command", 0},
		{"holdfast apply a b c d", admins, forge.Admin, "that is no command", 0},
		{"Holdfast apply", admins, forge.Admin, "1 to apply", 1},
	} {
		p := planned().Obey(comment("1", c.body), c.may, pulls.Settings{Plan: "write", Apply: c.apply}, now)
		n := 0
		for _, plan := range p.Plans {
			if plan.Apply != nil {
				n++
			}
		}
		if (c.answer == "") != (last(p) == "") || !strings.Contains(last(p), c.answer) || n != c.layers {
			t.Errorf("%q: %q, %d", c.body, last(p), n)
		}
	}
}

func TestCommentsAreObeyedOnce(t *testing.T) {
	s := pulls.Settings{Plan: "write", Apply: "write"}
	p := planned()
	refused := p.Obey(comment("1", "holdfast apply"), forge.Read, s, now)
	if again := refused.Obey(comment("1", "holdfast apply"), forge.Admin, s, now); again.Plans[0].Apply != nil {
		t.Error("a comment was obeyed the second time")
	}
	c := comment("2", "holdfast apply")
	c.Edited = true
	if p.Obey(c, forge.Admin, s, now).Plans[0].Apply != nil {
		t.Error("a comment was obeyed that somebody has edited")
	}
	for i := range 2000 {
		p = p.Obey(forge.Comment{ID: string(rune('a'+i%26)) + strings.Repeat("x", i), Body: "hello",
			Created: now.Add(time.Duration(i) * time.Second)}, forge.None, s, now)
	}
	if fresh := p.Fresh([]forge.Comment{{ID: "axxx", Created: now}}); len(p.Obeyed) > 500 || len(fresh) > 0 {
		t.Errorf("%d are remembered, %v is looked at again", len(p.Obeyed), fresh)
	}
}

func TestOnlyWhatWasPlannedIsApplied(t *testing.T) {
	p := planned().Obey(comment("1", "holdfast apply a"), forge.Admin, pulls.Settings{Plan: "write", Apply: "admin"}, now)
	plan := p.Plans[0]
	good := pulls.RunFact{ID: "APPLY", Decide: true, Changes: "c", Base: "s", Config: "beside-1"}
	for name, c := range map[string]struct {
		change  func(*pulls.RunFact)
		head    string
		barred  string
		verdict pulls.Verdict
		status  pulls.Status
	}{
		"the same":      {func(*pulls.RunFact) {}, one, "", pulls.Confirm, pulls.Deciding},
		"other changes": {func(f *pulls.RunFact) { f.Changes = "d" }, one, "", pulls.Decline, pulls.Undone},
		"another state": {func(f *pulls.RunFact) { f.Base = "t" }, one, "", pulls.Decline, pulls.Undone},
		"other files":   {func(f *pulls.RunFact) { f.Config = "beside-2" }, one, "", pulls.Decline, pulls.Undone},
		"another head":  {func(*pulls.RunFact) {}, two, "", pulls.Decline, pulls.Stale},
		"closed":        {func(*pulls.RunFact) {}, one, "it is closed", pulls.Decline, pulls.Stale},
		"confirmed": {func(f *pulls.RunFact) { f.Decide, f.Confirmed = false, true }, one, "", pulls.Wait,
			pulls.Running},
		"confirmed, closed": {func(f *pulls.RunFact) { f.Decide, f.Confirmed = false, true }, one, "it is closed",
			pulls.Decline, pulls.Stale},
		"confirmed, made again": {func(f *pulls.RunFact) { f.Decide, f.Confirmed, f.Base = false, true, "t" }, one, "",
			pulls.Wait, pulls.Running},
		"begun, closed": {func(f *pulls.RunFact) { f.Decide = false }, one, "it is closed", pulls.Wait, pulls.Running},
		"it goes on":    {func(f *pulls.RunFact) { f.Decide = false }, one, "", pulls.Wait, pulls.Running},
		"it has ended": {func(f *pulls.RunFact) { f.Decide, f.Ended, f.Good = false, true, true }, two, "", pulls.Wait,
			pulls.Done},
		"it has not, well": {func(f *pulls.RunFact) { f.Decide, f.Ended = false, true }, one, "", pulls.Wait, pulls.Failed},
	} {
		run := good
		c.change(&run)
		if got, verdict := plan.Judge(run, c.head, c.barred); verdict != c.verdict || got.Apply.Status != c.status {
			t.Errorf("%s: %v, %s", name, verdict, got.Apply.Status)
		}
	}
}
