package pulls

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/runs"
)

// look is one look at a pull request. What it decides is stored before it is done, and what came of it
// behind that.
type look struct {
	*Service
	pull     Pull
	token    string
	lost     bool // somebody else has the pull request by now
	unsaved  bool // what was decided is not stored, so nothing may be done of it
	forge    forge.Forge
	settings Settings
}

var errLost = errors.New("somebody else looks at the pull request by now")

func asForge(err error) (*forge.Error, bool) { return errors.AsType[*forge.Error](err) }

// save keeps the pull request as it is now.
func (l *look) save(ctx context.Context) error {
	ok, err := l.Store.Save(ctx, l.pull, l.token)
	if err == nil && !ok {
		l.lost, err = true, errLost
	}
	l.unsaved = err != nil
	return err
}

// all does what is to be done, as far as it gets, and says in the comment how far that was.
func (l *look) all(ctx context.Context) error {
	err := l.work(ctx)
	if l.lost || l.unsaved || ctx.Err() != nil {
		return err
	}
	_, l.pull.Waits = l.pull.MayRun(l.settings)
	before := l.pull.Trouble
	l.pull.Trouble, l.pull.Failures = "", 0
	if err != nil {
		l.pull.Failures++
		l.pull.Trouble = troubleOf(err)
		l.Log.InfoContext(ctx, "a pull request was not looked at to the end; it is tried again", "org", l.pull.Org,
			"repository", l.pull.Repository, "number", l.pull.Number, "error", err)
	}
	if err == nil || before != l.pull.Trouble {
		if said := l.say(ctx); said != nil && err == nil {
			err = said
			l.pull.Failures++
		}
	}
	return errors.Join(err, l.save(ctx))
}

// troubleOf is what people at the forge may know of an error.
func troubleOf(err error) string {
	if e, ok := asForge(err); ok {
		return string(e.Provider) + ": " + string(e.Kind)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code != fault.InternalError {
		return f.Message
	}
	return "something went wrong at the server"
}

func (l *look) work(ctx context.Context) (err error) {
	if l.forge, l.settings, err = l.Repositories.Forge(ctx, l.pull.Org, l.pull.Repository); err != nil {
		return err
	}
	if l.settings.Off() {
		return l.follow(ctx) // what was begun before
	}
	now, err := l.forge.PullRequest(ctx, l.pull.Number)
	if err != nil {
		return err
	}
	if l.pull.Key == "" {
		l.pull.Key = l.Token()
	}
	l.pull = l.pull.See(now)
	l.pull.SeenAt = l.clock()
	if err := l.save(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{l.dropStale, l.find, l.compare, l.follow, l.ontoBase, l.obey,
		l.begin} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if l.pull.At.State != forge.Open && !l.pull.Open() {
		return l.close(ctx)
	}
	return nil
}

// find takes down which layers the head affects, once for each head and for the layers that there are.
func (l *look) find(ctx context.Context) error {
	at := l.pull.At
	if at.State != forge.Open {
		return nil
	}
	known, err := l.Layers.Definitions(ctx, l.pull.Ref, at)
	if err != nil {
		return err
	}
	now := digestOf(known)
	if l.pull.Looked == at.Head && l.pull.Known == now {
		return nil
	}
	paths, all, err := l.forge.ChangedFiles(ctx, at.Number)
	if err != nil {
		return err
	}
	again, err := l.forge.PullRequest(ctx, at.Number)
	if err != nil {
		return err
	}
	if again.Head != at.Head {
		return &forge.Error{Kind: forge.Conflict, Message: "the pull request moved while it was looked at"}
	}
	layers, err := l.Layers.Affected(ctx, l.pull.Ref, at, paths, all)
	if err != nil {
		return err
	}
	l.pull = l.pull.moved(known)
	if err := l.dropStale(ctx); err != nil {
		return err
	}
	l.pull = l.pull.Affects(layers, !all)
	l.pull.Known, l.pull.Compared = now, ""
	for i, plan := range l.pull.Plans {
		if plan.Of == "" {
			l.pull.Plans[i].Of = known[plan.Layer]
		}
	}
	return l.save(ctx)
}

// compare takes down which plans lack commits of the base, once for each commit of both.
func (l *look) compare(ctx context.Context) error {
	at := l.pull.At
	if at.State != forge.Open || len(l.pull.Plans) == 0 {
		return nil
	}
	base, err := l.Layers.Base(ctx, l.pull.Ref, at)
	if err != nil {
		return err
	}
	now := fmt.Sprintf("%s %s %s %t", at.Head, base, l.pull.Known, l.settings.HeadAlone)
	if base == "" || l.pull.Compared == now {
		return nil
	}
	lag, err := l.Layers.Behind(ctx, l.pull.Ref, at, base)
	if err != nil {
		return err
	}
	changed := map[string]map[string]string{"": lag.Layers, base: nil}
	l.pull.Plans = slices.Clone(l.pull.Plans)
	for i, plan := range l.pull.Plans {
		l.pull.Plans[i].Behind = ""
		if plan.Commit != at.Head {
			continue
		}
		if _, known := changed[plan.Onto]; !known {
			if changed[plan.Onto], err = l.Layers.Changed(ctx, l.pull.Ref, at, plan.Onto, base); err != nil {
				return err
			}
		}
		l.pull.Plans[i].Behind = changed[plan.Onto][plan.Layer]
	}
	l.pull.Compared, l.pull.Lacks, l.pull.Apart, l.pull.Onto = now, lag.Commits, lag.Apart, ""
	if lag.Commits > 0 && lag.Apart == "" && !l.settings.HeadAlone {
		l.pull.Onto = base
	}
	return l.save(ctx)
}

// ontoBase has plans be made of what is to be planned by now, where they lack commits of the base.
func (l *look) ontoBase(ctx context.Context) error {
	if l.pull.At.State != forge.Open {
		return nil
	}
	next, were := l.pull.ontoBase()
	if len(were) == 0 {
		return nil
	}
	for _, plan := range were {
		if plan.Snapshot == "" {
			continue
		}
		if err := l.Layers.Drop(ctx, l.pull.Org, plan.Layer, plan.Snapshot); err != nil && !final(err) {
			return err
		}
	}
	l.pull = next
	return l.save(ctx)
}

// digestOf tells apart the layers that there are.
func digestOf(known map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(sum, "%q %q\n", name, known[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// obey looks at what was commented since. Who may not command costs one question at the forge; who only
// talks, none.
func (l *look) obey(ctx context.Context) error {
	comments, err := l.forge.Comments(ctx, l.pull.Number, l.pull.Since)
	if err != nil {
		return err
	}
	fresh := l.pull.Fresh(comments)
	for _, c := range fresh {
		may := forge.None
		if _, command := ParseCommand(c.Body); command && c.ID != l.pull.Comment {
			if may, err = l.forge.Permission(ctx, c.Author); err != nil {
				return err
			}
		}
		l.pull = l.pull.Obey(c, may, l.settings, l.clock())
	}
	if len(fresh) == 0 {
		return nil
	}
	return l.save(ctx)
}

// begin makes the runs that are to be made, each once: its key says of what it is.
func (l *look) begin(ctx context.Context) error {
	for _, layer := range l.pull.ToPlan(l.settings) {
		plan := &l.pull.Plans[l.pull.plan(layer)]
		if err := l.beginPlan(ctx, plan); err != nil {
			if !final(err) {
				return err
			}
			plan.Status, plan.Reason = Failed, troubleOf(err)
		}
		if err := l.save(ctx); err != nil {
			return err
		}
	}
	for i := range l.pull.Plans {
		plan := &l.pull.Plans[i]
		if plan.Apply == nil || plan.Apply.Status != Waiting || plan.Apply.Run != "" {
			continue
		}
		if may, why := l.pull.mayApplyPlan(*plan, l.settings); !may {
			*plan = plan.notApplied(why)
		} else if err := l.beginApply(ctx, plan); err != nil {
			if !final(err) {
				return err
			}
			plan.Apply.Status, plan.Apply.Reason = Failed, troubleOf(err)
		}
		if err := l.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// final reports whether an error stays however often it is tried.
func final(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	switch f.Code.Kind() {
	case fault.Invalid, fault.Unprocessable, fault.TooLarge, fault.NotFound, fault.Conflict:
		return true
	}
	return false
}

func (l *look) beginPlan(ctx context.Context, plan *Plan) error {
	by := l.pull.At.Author
	if l.pull.Allowed != nil {
		by = l.pull.Allowed.By
	}
	caller, err := as(l.pull.Org, plan.Layer, by)
	if err != nil {
		return err
	}
	snapshot, err := l.Layers.Snapshot(ctx, caller, l.pull.Ref, l.pull.At, plan.Onto, plan.Layer)
	if err != nil {
		return err
	}
	order := api.RunOrder{Workspace: plan.Layer, Kind: string(runs.Plan), Snapshot: snapshot,
		Message: l.message(l.merged(*plan))}
	run, err := l.Runs.Begin(ctx, caller, order, l.order(plan.Commit), l.key("plan", *plan))
	if err != nil {
		return err
	}
	plan.Snapshot, plan.Run, plan.Status = snapshot, run, Running
	return nil
}

func (l *look) beginApply(ctx context.Context, plan *Plan) error {
	caller, err := as(l.pull.Org, plan.Layer, plan.Apply.By)
	if err != nil {
		return err
	}
	order := api.RunOrder{Workspace: plan.Layer, Kind: string(runs.Apply), Snapshot: plan.Snapshot,
		Message: l.message(l.merged(*plan) + " by a command of " + plan.Apply.By.Login)}
	run, err := l.Runs.Begin(ctx, caller, order, l.order(plan.Commit), l.key("apply "+plan.Apply.Comment, *plan))
	if err != nil {
		return err
	}
	applied := *plan.Apply
	applied.Run, applied.Status = run, Running
	plan.Apply = &applied
	return nil
}

func (l *look) order(commit string) runs.PullOrder {
	return runs.PullOrder{Repository: l.pull.Repository, Number: l.pull.Number, Commit: commit,
		Withhold: !l.pull.Secret()}
}

// merged says what the head is merged with in a plan.
func (l *look) merged(plan Plan) string {
	if plan.Onto == "" {
		return ""
	}
	return " merged into " + forge.Cut(l.pull.At.BaseRef, 100) + " at " + short(plan.Onto)
}

func (l *look) message(more string) string {
	return l.pull.name() + " at " + short(l.pull.At.Head) + forge.Cut(more, 200)
}

// name is how people call it.
func (p Pull) name() string { return fmt.Sprintf("%s#%d", forge.Cut(p.Repository, 200), p.Number) }

// key is what a run is made by, once.
func (l *look) key(what string, plan Plan) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s\x00%s\x00%s\x00%s\x00%d", l.pull.Repository,
		l.pull.Number, l.pull.Key, what, plan.Layer, plan.Commit, plan.Onto, plan.Round))
	return "pull " + hex.EncodeToString(sum[:])
}

// follow looks at what the runs have come to.
func (l *look) follow(ctx context.Context) error {
	for i := range l.pull.Plans {
		plan := l.pull.Plans[i]
		if plan.Run != "" && plan.Status == Running {
			fact, err := l.Runs.Fact(ctx, l.pull.Org, plan.Run)
			if err != nil {
				return err
			}
			plan = plan.Planned(fact)
		}
		if plan.Apply != nil && plan.Apply.Run != "" && !plan.Apply.Status.Ended() {
			var err error
			if plan, err = l.judge(ctx, plan); err != nil {
				return err
			}
		}
		l.pull.Plans[i] = plan
	}
	return nil
}

// judge looks at a run that applies a plan. Where the workspace wants people's approval, or a gate holds the
// plan, it goes on waiting for them. One that is to be dropped and has begun meanwhile is followed to its end.
func (l *look) judge(ctx context.Context, plan Plan) (Plan, error) {
	fact, err := l.Runs.Fact(ctx, l.pull.Org, plan.Apply.Run)
	if err != nil {
		return plan, err
	}
	_, barred := l.pull.mayGoOn(plan, l.settings)
	judged, verdict := plan.Judge(fact, l.pull.At.Head, barred)
	if verdict == Wait {
		return judged, nil
	}
	caller, err := as(l.pull.Org, plan.Layer, plan.Apply.By)
	if err != nil {
		return plan, err
	}
	if verdict == Decline {
		if err = l.Runs.Drop(ctx, caller, fact.ID, judged.Apply.Reason); final(err) {
			return plan, nil
		}
	} else if err = l.Runs.Confirm(ctx, caller, fact.ID, fact.Digest, "comment "+plan.Apply.Comment); final(err) ||
		fault.Is(err, fault.RightMissing) {
		err = nil
	}
	return judged, err
}

// dropStale ends plans of commits that the pull request has left.
func (l *look) dropStale(ctx context.Context) error {
	for i, plan := range l.pull.Plans {
		if plan.Status != Stale || plan.Run == "" || plan.applying() || plan.Told == dropped {
			continue
		}
		caller, err := as(l.pull.Org, plan.Layer, l.pull.At.Author)
		if err != nil {
			return err
		}
		err = l.Runs.Drop(ctx, caller, plan.Run, "the pull request has another commit by now")
		if err == nil {
			err = l.Layers.Drop(ctx, l.pull.Org, plan.Layer, plan.Snapshot)
		}
		if err != nil && !final(err) {
			return err
		}
		l.pull.Plans[i].Told = dropped
	}
	return nil
}

// dropped is what a stale plan has in the place of a status.
const dropped = "dropped"

// close ends what is left of a pull request that is over.
func (l *look) close(ctx context.Context) error {
	l.pull.Plans = slices.Clone(l.pull.Plans)
	for i := range l.pull.Plans {
		plan := &l.pull.Plans[i]
		if plan.Status == Waiting || plan.Status == Running {
			*plan = plan.outdated()
		}
		if plan.Snapshot != "" {
			if err := l.Layers.Drop(ctx, l.pull.Org, plan.Layer, plan.Snapshot); err != nil && !final(err) {
				return err
			}
		}
	}
	l.pull.Closed = true
	return nil
}
