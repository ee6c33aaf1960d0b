package state

import (
	"context"
	"fmt"
	"io"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state/document"
)

// ViewKind is a part of a state that can be shown without the rest.
type ViewKind string

// The views.
const (
	OutputsView  ViewKind = "outputs"  // a state with the outputs only; needs auth.ReadOutputs
	GraphView    ViewKind = "graph"    // what document.WriteGraph writes; needs auth.ReadState
	RedactedView ViewKind = "redacted" // all of it with sensitive values masked; needs auth.ReadState
)

// View shows a part of a version; number 0 is the newest of a state that exists. Faults are
// those of Version, StateEncrypted and StateUnsupported. The caller closes it.
func (s *Service) View(ctx context.Context, p auth.Principal, name Name, kind ViewKind,
	number uint64) (*Rendered, error) {
	right, write := auth.ReadState, document.WriteRedacted
	switch kind {
	case OutputsView:
		right, write = auth.ReadOutputs, document.WriteOutputs
	case GraphView:
		write = document.WriteGraph
	}
	ref, err := s.authorizeShown(ctx, p, right, name, kind == OutputsView)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, ref, number, func(w *budget.Buffer, snapshot Snapshot) error {
		if kind == OutputsView { // their values are as they are
			s.noteRead(ctx, p, ref, snapshot.Number, "outputs")
		}
		return write(w, snapshot.Body, w.Beside)
	})
}

// show makes an answer out of one version, which takes about as much as that at most.
func (s *Service) show(ctx context.Context, ref Ref, number uint64,
	write func(*budget.Buffer, Snapshot) error) (*Rendered, error) {
	known, err := s.describedVersion(ctx, ref, number)
	if err != nil {
		return nil, err
	}
	made, err := s.look(ctx, ref, known.Size, known.Size, func(w *budget.Buffer) error {
		snapshot, err := s.read(ctx, ref, known)
		if err != nil {
			return err
		}
		return write(w, snapshot)
	})
	if err == nil {
		made.Version = known
	}
	return made, err
}

// OutputsQuery says what of a state's outputs is to be shown.
type OutputsQuery struct {
	Key       string // of the one that is wanted; empty for all
	Sensitive bool   // show the values of sensitive ones; who asks for one by name gets it
}

// Outputs has write show the outputs of the newest version by name, with sensitive values
// masked unless they are asked for, which is recorded. What write gets is gone when it
// returns. Faults: StateNotFound, OutputNotFound, StateEncrypted, StateUnsupported,
// Overloaded. The caller closes what is returned.
func (s *Service) Outputs(ctx context.Context, p auth.Principal, name Name, q OutputsQuery,
	write func(io.Writer, []document.Output) error) (*Rendered, error) {
	ref, err := s.authorizeShown(ctx, p, auth.ReadOutputs, name, q.Sensitive)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, ref, 0, func(w *budget.Buffer, snapshot Snapshot) error {
		shown, err := s.outputs(ctx, p, ref, q, snapshot, w.Beside)
		if err != nil {
			return err
		}
		return write(w, shown)
	})
}

// outputs returns those that are asked for, once it is recorded what they reveal.
func (s *Service) outputs(ctx context.Context, p auth.Principal, ref Ref, q OutputsQuery, of Snapshot,
	memory document.Memory) ([]document.Output, error) {
	all, err := document.Outputs(of.Body, memory)
	if err != nil {
		return nil, err
	}
	if q.Key != "" {
		if all = only(all, q.Key); all == nil {
			return nil, fault.New(fault.OutputNotFound, "the state has no output %q", q.Key)
		}
	}
	show := q.Sensitive || q.Key != ""
	if q.Key != "" && all[0].Sensitive {
		if _, err := s.authorize(ctx, p, auth.ReadOutputs, ref.Name); err != nil {
			return nil, err
		}
	}
	if n := maskOutputs(all, !show); n > 0 && show {
		err = s.reveal(ctx, p, ref, of.Number, fmt.Sprintf("%d sensitive outputs", n))
	}
	return all, err
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
