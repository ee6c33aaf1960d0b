package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/audit"
)

// lost is one or several notices that will not be delivered.
type lost struct {
	event       audit.Event // the only one, or the last
	count       int
	first, last uint64
	err         error // why
}

func lostOne(e audit.Event, why error) lost {
	return lost{event: e, count: 1, first: e.Sequence, last: e.Sequence, err: why}
}

// and adds another one that is lost for the same reason.
func (l lost) and(e audit.Event, why error) lost {
	if l.count == 0 {
		return lostOne(e, why)
	}
	l.event, l.count, l.last = e, l.count+1, e.Sequence
	return l
}

// recordTime is how long to wait for the audit log: no notice is worth a server that hangs.
const recordTime = 5 * time.Second

// record says in the log and in the audit log what is lost. The latter is the organization's,
// so that it has nothing of this server's network.
func (f *Notifier) record(ctx context.Context, l lost) {
	f.counts.dropped.Add(int64(l.count))
	e := l.event
	attributes := []any{"org", e.Org.String(), "action", string(e.Action), "sequence", l.last, "error", l.err}
	note := fmt.Sprintf("%s %d: %s", e.Action, l.last, shown(l.err))
	if l.count > 1 {
		attributes = append(attributes, "notices", l.count, "first", l.first)
		note = fmt.Sprintf("%d notices from %d to %d: %s", l.count, l.first, l.last, shown(l.err))
	}
	f.log.WarnContext(ctx, "a notice could not be delivered", attributes...)
	if _, some := f.receivers.Receiver(e.Org); !some {
		return // the organization may be gone, and nothing may be recorded of it any more
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	err := f.source.Record(ctx, audit.Event{
		At: time.Now(), Org: e.Org, Actor: audit.Server(), Action: audit.NoticeDrop, State: e.State, Version: e.Version,
		Note: note,
	})
	if err != nil {
		f.log.ErrorContext(ctx, "the audit log does not say that a notice could not be delivered", "org", e.Org.String(),
			"sequence", l.last, "error", err)
	}
}

// reason is why a notice was not even tried.
type reason string

// tooMany is the reason where there is no room.
const tooMany reason = "too many wait"

func (r reason) Error() string { return string(r) }

// shown is what an organization may know of an error.
func shown(err error) string {
	if a, ok := errors.AsType[answered](err); ok {
		return a.Error()
	}
	if r, ok := errors.AsType[reason](err); ok {
		return r.Error()
	}
	return "no answer"
}
