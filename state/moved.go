package state

import (
	"context"

	"github.com/holdfast/holdfast/audit"
)

// Moved is what has just become of a state: another version is the newest, it was deleted, or
// it was brought back.
type Moved struct {
	Ref   Ref
	Head  Head // as the change left it
	Actor audit.Actor
}

// OnMove has hear called after each accepted write, rollback, promotion, deletion and
// undelete, before its caller has the answer. So hear must be quick. It is called by many
// requests at once, and two changes of one state may be heard in either order: Head.Version
// says which is newer. What it does can't undo the change, and a process that dies in between
// has told nobody: whoever must not miss a change looks at heads, or follows Feed, as well.
//
// OnMove itself must be called before the service is used.
func (s *Service) OnMove(hear func(context.Context, Moved)) { s.heard = append(s.heard, hear) }

// update is the store's, of a decision that may move a state.
func (s *Service) update(ctx context.Context, ref Ref, body []byte, actor audit.Actor, decide Decide) (Head, error) {
	moves := false
	head, err := s.store.Update(ctx, ref, body, func(h Head) (Change, error) {
		change, err := decide(h)
		moves = change.Version != nil || change.Delete || change.Undelete
		return change, err
	})
	if err == nil && moves {
		for _, hear := range s.heard {
			hear(context.WithoutCancel(ctx),
				Moved{Ref: ref, Head: head, Actor: actor}) // the change stands, even if its caller has left
		}
	}
	return head, err
}
