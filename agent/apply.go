package agent

import (
	"context"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/api"
)

func (s *stage) apply(ctx, held context.Context) api.PhaseReport {
	if err := s.announce(ctx, held); err != nil {
		return failed(infrastructure, "the server was not told that the apply begins: "+reason(err))
	}
	args := append([]string{"apply", "-json", "-input=false"}, s.parallelism()...)
	out, err := s.command(ctx, phaseApply, true, false, append(args, planIn(s.folder))...)
	r := s.ended(out, err)
	if ctx.Err() != nil {
		return r
	}
	_, unkept := os.Lstat(filepath.Join(s.directory(), erroredState))
	r.StateKept = unkept == nil
	// Whatever else the command said: a state that it could not store is what must not be lost.
	if err := s.saveErrored(held); err != nil {
		r.Message += "; the state that the tool could not store is kept on the agent: " + err.Error()
	}
	s.uploadEvents(held, out)
	return r
}

// announce has the server know, before the tool changes anything, that it may: an executor that
// is lost from here on leaves a question behind.
func (s *stage) announce(ctx, held context.Context) error {
	if s.isBegun(ctx, phaseApply) {
		return nil
	}
	err := persist(held, s.log, "that the apply begins", func(ctx context.Context) error {
		_, err := s.renewOnce(ctx)
		return err
	})
	if isLoss(err) {
		s.lose()
	}
	return err
}

func (s *stage) output(ctx, held context.Context) api.PhaseReport {
	out, err := s.command(ctx, phaseOutput, false, true, "output", "-json")
	r := s.ended(out, err)
	if r.Outcome != succeeded {
		return r
	}
	if err := s.upload(held, artefactOutputs, out.stdout); err != nil {
		return refused(held, "the artefact "+artefactOutputs, err)
	}
	return r
}

// saveErrored brings the state that the tool could not store to the server, or else keeps it on
// this machine, and says where.
func (s *stage) saveErrored(held context.Context) error {
	path := filepath.Join(s.directory(), erroredState)
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	err := s.upload(held, artefactErrored, path)
	if err == nil {
		return nil
	}
	return s.keepErrored(path, err)
}

// afterLoss ends a stage that the server has given up. What plans is gone by then, or soon. What
// applies was asked to end, and whatever it writes is kept by the server as a candidate; the
// state that it could not even send is kept here.
func (s *stage) afterLoss(ctx context.Context) error {
	if !s.applies() {
		return nil
	}
	path := filepath.Join(s.directory(), erroredState)
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	if err := s.executor.putOnce(ctx, s.hold(), artefactErrored, s.folder, path); err == nil {
		return nil
	}
	_ = s.keepErrored(path, nil)
	return nil
}
