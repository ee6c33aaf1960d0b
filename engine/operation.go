package engine

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
)

// operation begins an operation, or a part of the one that the context belongs to, and says so in its log. What it
// returns says how it ended.
func (e *Engine) operation(ctx context.Context, name string) (context.Context, func(error, ...any)) {
	ctx = oplog.Begin(ctx, e.log)
	log, begin := oplog.From(ctx, name).With("operation", name), time.Now()
	log.InfoContext(ctx, "an operation begins", "dir", e.Root.Dir, "workspace", e.Root.Workspace)
	return ctx, func(err error, more ...any) {
		more = append(more, "elapsed_ms", time.Since(begin).Milliseconds())
		if err == nil {
			log.InfoContext(ctx, "an operation is done", more...)
			return
		}
		var fault *diag.Error
		if errors.As(err, &fault) {
			more = append(more, "category", string(fault.Category))
		}
		log.ErrorContext(ctx, "an operation has failed", append(more, "exception", err.Error())...)
	}
}

// planned are the attributes of a plan in a line of the log.
func planned(p *plan.Plan) []any {
	if p == nil {
		return nil
	}
	add, change, destroy := p.Count()
	return []any{"add", add, "change", change, "destroy", destroy, "drifted", len(p.Drift)}
}

// applied are the attributes of an apply's result in a line of the log.
func applied(r *apply.Result) []any {
	if r == nil {
		return nil
	}
	return []any{"added", r.Added, "changed", r.Changed, "destroyed", r.Destroyed, "failed", len(r.Failed),
		"not_begun", len(r.NotBegun)}
}

// Read reads the state to go on from it: one that can't be written again without a loss is refused.
func (e *Engine) Read(ctx context.Context) (*statefile.File, error) {
	f, err := e.Store.Read(ctx)
	if err == nil && f != nil {
		if lost := f.Keepable(); lost != nil {
			return nil, diag.Stateful(lost, "the state can't be gone on from, and nothing is done with it").
				WithHint("holdfast engine debug state looks into it")
		}
	}
	if err == nil && f != nil {
		oplog.From(ctx, "state").DebugContext(ctx, "the state is read", "serial", f.Serial, "lineage", f.Lineage,
			"resources", len(f.Resources))
	}
	return f, err
}

// write writes the state.
func (e *Engine) write(ctx context.Context, f *statefile.File) error {
	err := e.Store.Write(ctx, f)
	log := oplog.From(ctx, "state")
	if err != nil {
		log.ErrorContext(ctx, "the state can't be stored", "serial", f.Serial, "exception", err.Error())
		return err
	}
	log.DebugContext(ctx, "the state is stored", "serial", f.Serial, "resources", len(f.Resources))
	return nil
}
