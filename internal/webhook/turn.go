package webhook

import "context"

// isMine reports whether this node is to read and to tell. When it is another one's turn, or nobody
// can say, it begins no more tries, and forgets what waits once those have ended that are under way:
// the outbox has it, and whose turn it is loads it from there.
func (f *Notifier) isMine(ctx context.Context) (bool, error) {
	if f.turn == nil {
		return true, nil
	}
	mine, err := f.turn.Take(ctx)
	f.resting = !mine || err != nil
	if f.resting || !f.begun {
		f.begun = false
		if f.backlog.posting > 0 {
			return false, err
		}
		f.forget(ctx)
	}
	return !f.resting, err
}

// forget begins with nothing that waits. What there was no room for the outbox does not have: that
// is recorded now.
func (f *Notifier) forget(ctx context.Context) {
	for _, l := range f.backlog.order {
		if l.lost.count > 0 {
			f.record(context.WithoutCancel(ctx), l.lost)
		}
	}
	f.backlog = newBacklog()
	f.count()
}

// leave lets another node have the turn now.
func (f *Notifier) leave(ctx context.Context) {
	if f.turn == nil || f.resting {
		return
	}
	if err := f.turn.Leave(ctx); err != nil {
		f.log.WarnContext(ctx, "another node begins to tell notices some seconds later than it could", "error", err)
	}
}
