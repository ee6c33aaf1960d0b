package agent

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/api"
)

// The stages and their phases, as the wire has them.
const (
	stagePlan  = "plan"
	stageApply = "apply"

	phasePrepare = "prepare"
	phaseInit    = "init"
	phasePlan    = "plan"
	phaseShow    = "show"
	phaseApply   = "apply"
	phaseOutput  = "output"
)

// How a phase ended.
const (
	succeeded = "succeeded"
	failure   = "failed"
	cancelled = "cancelled"
)

// phase is a step of a stage. Its function is called again, from its beginning, by an executor
// that begins anew while the phase goes on, and finds the command that it started then.
type phase struct {
	name string
	// json says that its command prints a line of JSON for each thing that happens.
	json bool
	run  func(s *stage, ctx, held context.Context) api.PhaseReport
}

func phasesOf(name string) []phase {
	if name == stageApply {
		return []phase{
			{phasePrepare, false, (*stage).prepare}, {phaseInit, false, (*stage).init},
			{phaseApply, true, (*stage).apply}, {phaseOutput, false, (*stage).output},
		}
	}
	return []phase{
		{phasePrepare, false, (*stage).prepare}, {phaseInit, false, (*stage).init},
		{phasePlan, true, (*stage).plan}, {phaseShow, false, (*stage).show},
	}
}

// do carries a phase out, unless the stage is to end.
func (s *stage) do(ctx, held context.Context, p phase) api.PhaseReport {
	var r api.PhaseReport
	switch {
	case p.name == phaseOutput: // what was applied is applied, and worth a look
		r = p.run(s, ctx, held)
	case s.overfull.Load() && !s.isBegun(ctx, p.name):
		r = failed(config, s.tooLarge())
	case s.cancels.wanted() && !s.isBegun(ctx, p.name):
		r = api.PhaseReport{Outcome: cancelled, Message: "the run was cancelled before this phase began"}
	default:
		r = p.run(s, ctx, held)
	}
	r.Phase, r.Seconds = p.name, time.Since(s.record.PhaseBegan).Seconds()
	r.Last = r.Last || p.name == phaseShow || p.name == phaseOutput
	if r.Outcome != succeeded && r.Message != "" && ctx.Err() == nil {
		s.note(ctx, "\n[holdfast: "+p.name+" "+r.Outcome+": "+r.Message+"]\n")
	}
	return r
}

// isBegun reports whether a phase's command was started.
func (s *stage) isBegun(ctx context.Context, name string) bool {
	_, err := s.executor.settings.Commands.Find(ctx, commandIn(s.folder, name))
	return err == nil
}

// failed is the report of a phase that failed before or without its command.
func failed(class, message string) api.PhaseReport {
	return api.PhaseReport{Outcome: failure, Class: class, Message: message}
}
