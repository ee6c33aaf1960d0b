package state

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
)

// undecided are the deleted states that a sweep has left because of their open candidates, by
// organization: one line of the log for each, however many states it has.
type undecided map[uuid.UUID]*undecidedStates

type undecidedStates struct {
	first              Name
	states, candidates int
}

func (u undecided) add(ref Ref, candidates int) {
	of := u[ref.Org]
	if of == nil {
		of = &undecidedStates{first: ref.Name}
		u[ref.Org] = of
	}
	of.states++
	of.candidates += candidates
}

func (u undecided) log(ctx context.Context, log *slog.Logger) {
	for org, of := range u {
		log.WarnContext(ctx, "deleted states are kept beyond their time, because nobody has decided on their candidates: "+
			"promote or discard them",
			"org", org, "states", of.states, "candidates", of.candidates, "one_of_them", of.first)
	}
}
