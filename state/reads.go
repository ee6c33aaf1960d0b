package state

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// WithReads has it on record who was given the bytes of states, and returns the service. Without it nobody is.
func (s *Service) WithReads(reads *audit.Reads) *Service {
	s.reads = reads
	return s
}

// Denied puts on record that a caller was refused for another reason than a right that they lack, and returns the
// refusal.
func (s *Service) Denied(ctx context.Context, p auth.Principal, refusal error) error {
	return errors.Join(refusal, s.store.Record(ctx, audit.Refusal(p, "", "", fault.From(refusal).Code, s.clock())))
}

// given is load for a caller who gets the bytes.
func (s *Service) given(ctx context.Context, p auth.Principal, ref Ref, number uint64) (Loaded, error) {
	loaded, err := s.load(ctx, ref, number)
	if err == nil {
		s.noteRead(ctx, p, ref, loaded.Number, "")
	}
	return loaded, err
}

// noteRead puts on record that the caller is about to be given bytes, before they are.
func (s *Service) noteRead(ctx context.Context, p auth.Principal, ref Ref, number uint64, what string) {
	if s.reads == nil {
		return
	}
	s.reads.Note(ctx, audit.Event{At: s.clock(), Org: ref.Org, Actor: audit.ActorOf(p), Action: audit.StateRead,
		State: string(ref.Name), Version: number, Note: what})
}
