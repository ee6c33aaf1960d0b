package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

// Versions of before there were guards are stored without their count of resources, and a
// guard that passed over them would be blind on the first write after an upgrade. A
// decision must not read, so it ends with an uncounted, and is made again with the count.

// uncounted ends a decision that needs the count of this version.
type uncounted struct{ number uint64 }

func (u *uncounted) Error() string {
	return fmt.Sprintf("state: the resources of version %d were never counted", u.number)
}

// recount is what was found when a version's resources were counted afterwards.
type recount struct {
	number    uint64 // of the version; 0 for none
	resources int    // -1 when they can't be counted, 0 when the bytes are gone with them
}

// known returns h with the count of its newest version, as far as that can be known, or
// an *uncounted where it is to be found out for next's sake.
func (c call) known(h Head, next Version) (Head, error) {
	if !h.Exists() || !h.Version.uncountable() || next.Encrypted || destroys(h.Lock) {
		return h, nil
	}
	if c.recount.number != h.Version.Number {
		return h, &uncounted{h.Version.Number}
	}
	h.Version.Resources = c.recount.resources
	return h, nil
}

// decide has the store record what a decision of the call says; where that needs a count, or the
// body's content, it is asked again. decision returns it with what the call knows by then.
func (s *Service) decide(ctx context.Context, ref Ref, body []byte, call *call, decision func() Decide) (Head, error) {
	for {
		head, err := s.update(ctx, ref, body, call.actor, decision())
		if errors.Is(err, errContent) {
			content := contentOf(body)
			call.content = &content
			continue
		}
		missing, ok := errors.AsType[*uncounted](err)
		if !ok {
			return head, err
		}
		if call.recount, err = s.count(ctx, ref, missing.number, call.actor.KeyID); err != nil {
			return Head{}, err
		}
	}
}

// count counts the resources of a stored version. One whose bytes are lost or destroyed has
// none any more: that must keep nobody from writing a good one. key is the caller's.
func (s *Service) count(ctx context.Context, ref Ref, number uint64, key string) (recount, error) {
	loaded, err := s.loadWith(ctx, ref, number, func(size int64) (budget.Hold, error) {
		return s.acquireToWrite(ctx, ref, size, withKey(key))
	})
	defer loaded.Release()
	switch {
	case fault.Is(err, fault.VersionNotFound), fault.Is(err, fault.VersionPurged), fault.Is(err, fault.StateCorrupt):
		return recount{number, 0}, nil
	case err != nil:
		return recount{}, err
	}
	return recount{number, resourcesOf(loaded.Body)}, nil
}
