package state

import (
	"context"
	"fmt"
	"io"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state/document"
)

// ViewKind is a part of a state that can be shown without the rest.
type ViewKind string

// The views.
const (
	OutputsView  ViewKind = "outputs"  // a state with the outputs only; needs auth.ReadOutputs
	RedactedView ViewKind = "redacted" // all of it with sensitive values masked; needs auth.ReadState
)

// View is what a caller may see of a version. It holds the version in memory until it is
// closed.
type View struct {
	Version Version
	body    []byte
	write   func(io.Writer, []byte) error
	release func()
}

// Write writes it. Faults before anything is written: StateEncrypted, StateUnsupported.
func (v *View) Write(w io.Writer) error { return v.write(w, v.body) }

// Close lets go of the version. It may be called again.
func (v *View) Close() {
	v.body = nil
	v.release()
}

// View returns a view of a version; number 0 is the newest of a state that exists. Faults
// are those of Version, and Overloaded. The caller closes the View.
func (s *Service) View(ctx context.Context, p auth.Principal, name Name, kind ViewKind, number uint64) (*View, error) {
	right, write := auth.ReadState, document.WriteRedacted
	if kind == OutputsView {
		right, write = auth.ReadOutputs, document.WriteOutputs
	}
	ref, err := s.enter(ctx, p, right, name)
	if err != nil {
		return nil, err
	}
	release, err := s.roomFor(ctx, ref, number)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.version(ctx, ref, number)
	if err != nil {
		release()
		return nil, err
	}
	return &View{Version: snapshot.Version, body: snapshot.Body, write: write, release: release}, nil
}

// OutputsQuery says what of a state's outputs is to be shown.
type OutputsQuery struct {
	Key       string // of the one that is wanted; empty for all
	Sensitive bool   // show the values of sensitive ones; who asks for one by name gets it
}

// Outputs returns the outputs of the newest version by name, with sensitive values masked
// unless they are asked for, which is recorded. Faults: StateNotFound, OutputNotFound,
// StateEncrypted, StateUnsupported.
func (s *Service) Outputs(ctx context.Context, p auth.Principal, name Name, q OutputsQuery) (Version, []document.Output, error) {
	ref, err := s.enter(ctx, p, auth.ReadOutputs, name)
	if err != nil {
		return Version{}, nil, err
	}
	snapshot, err := s.store.Current(ctx, ref)
	if err != nil {
		return Version{}, nil, err
	}
	all, err := document.Outputs(snapshot.Body)
	if err != nil {
		return Version{}, nil, err
	}
	if q.Key != "" {
		if all = only(all, q.Key); all == nil {
			return Version{}, nil, fault.New(fault.OutputNotFound, "the state has no output %q", q.Key)
		}
	}
	show := q.Sensitive || q.Key != ""
	if n := maskOutputs(all, !show); n > 0 && show {
		err = s.reveal(ctx, p, ref, snapshot.Number, fmt.Sprintf("%d sensitive outputs", n))
	}
	return snapshot.Version, all, err
}

func only(all []document.Output, name string) []document.Output {
	for i := range all {
		if all[i].Name == name {
			return all[i : i+1]
		}
	}
	return nil
}

// maskOutputs counts the sensitive outputs, and masks their values if wanted.
func maskOutputs(all []document.Output, mask bool) int {
	sensitive := 0
	for i := range all {
		if !all[i].Sensitive {
			continue
		}
		sensitive++
		if mask {
			all[i].Value, all[i].Type = []byte(document.Masked), []byte(`"string"`)
		}
	}
	return sensitive
}

// reveal records that sensitive values are about to be shown. They are not when that fails.
func (s *Service) reveal(ctx context.Context, p auth.Principal, ref Ref, number uint64, note string) error {
	return s.store.Record(ctx, audit.Event{
		At: s.clock(), Org: ref.Org, Actor: audit.ActorOf(p), Action: audit.Unmask,
		State: string(ref.Name), Version: number, Note: note,
	})
}
