package pulls

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/repos/forge"
)

// say tells the forge what there is to be told and was not yet: a status for each layer, and the comment.
func (l *look) say(ctx context.Context) error {
	if l.forge == nil || l.pull.At.Head == "" || l.settings.Off() {
		return nil
	}
	for i := range l.pull.Plans {
		if err := l.sayStatus(ctx, &l.pull.Plans[i]); err != nil {
			return err
		}
	}
	if len(l.pull.Plans) == 0 && l.pull.Comment == "" && len(l.pull.Answers) == 0 && l.pull.Trouble == "" {
		return nil // it affects nothing, and nobody has asked
	}
	words := Words{Settings: l.settings, Link: l.Link, Insight: l.insight(ctx), Changes: l.changes(ctx)}
	text := l.pull.Text(words, l.forge.Limits())
	sum := sha256.Sum256([]byte(text))
	said := hex.EncodeToString(sum[:])
	if l.pull.Comment != "" && l.pull.Said == said {
		return nil
	}
	id, err := forge.UpsertComment(ctx, l.forge, l.pull.Number, l.pull.Key, l.pull.Comment, text)
	if id != "" {
		l.pull.Comment = id
	}
	if err != nil {
		return err
	}
	l.pull.Said = said
	return nil
}

// sayStatus sets the status of a plan of the head, where it is another one than before.
func (l *look) sayStatus(ctx context.Context, plan *Plan) error {
	if plan.Commit != l.pull.At.Head || plan.Status == Stale {
		return nil
	}
	link := l.pull.At.Link
	if l.Link != nil && plan.Run != "" {
		link = cmp.Or(l.Link(plan.Run), link)
	}
	status := l.pull.StatusOf(*plan, l.settings, link)
	told := string(status.State) + " " + status.Description + " " + status.Link
	if told == plan.Told {
		return nil
	}
	err := l.forge.SetStatus(ctx, plan.Commit, status)
	if err == nil || forge.Is(err, forge.Invalid) || l.isElsewhere(err) { // a commit that takes no more of them, or none
		plan.Told = told
		err = nil
	}
	return err
}

// isElsewhere reports whether a status is refused because the commit is in a fork: the comment has to do there.
func (l *look) isElsewhere(err error) bool {
	return l.pull.At.Source != "" && (forge.Is(err, forge.Missing) || forge.Is(err, forge.Forbidden))
}

// insight asks what plans mean. That it is not known makes the comment shorter.
func (l *look) insight(ctx context.Context) func(run string) *api.Insight {
	return func(run string) *api.Insight {
		found, err := l.Runs.Insight(ctx, l.pull.Org, run)
		if err != nil {
			l.Log.InfoContext(ctx, "a comment lacks what a plan means", "run", run, "error", err)
			return nil
		}
		return found
	}
}

// changes asks what plans change. That it is not known makes the comment shorter.
func (l *look) changes(ctx context.Context) func(run string) *api.RunChanges {
	return func(run string) *api.RunChanges {
		found, err := l.Runs.Changes(ctx, l.pull.Org, run)
		if err != nil {
			l.Log.InfoContext(ctx, "a comment lacks what a plan changes", "run", run, "error", err)
			return nil
		}
		return found
	}
}
