package agent

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/agent/backend"
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
	r.StateKept = s.errored() != ""
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
		_, err := s.renewOnce(ctx, 0, unwanted)
		return err
	})
	if isLoss(err) {
		s.lose()
	}
	return err
}

// output keeps the outputs. The apply has told them, as a rule, and then the tool isn't asked again.
func (s *stage) output(ctx, held context.Context) api.PhaseReport {
	r, path := api.PhaseReport{Outcome: succeeded, Tool: s.record.Tool}, scratchIn(s.folder, artefactOutputs)
	told, err := s.keepTold(ctx, path)
	switch {
	case err != nil:
		s.log.WarnContext(ctx, "the outputs that the apply told can't be read: the tool is asked for them", "error", err)
	case told:
		s.say(ctx, header(phaseOutput))
	}
	if !told {
		out, err := s.command(ctx, phaseOutput, false, true, "output", "-json")
		if r = s.ended(out, err); r.Outcome != succeeded {
			return r
		}
		path = out.stdout
	}
	masked := scratchIn(s.folder, "masked-"+artefactOutputs)
	if err := s.maskOutputs(path, masked); err != nil {
		s.log.WarnContext(ctx, "the outputs are not as a tool prints them, and are not kept", "error", err)
		return r
	}
	if err := s.upload(held, artefactOutputs, masked); err != nil {
		return refused(held, "the artefact "+artefactOutputs, err)
	}
	return r
}

// keepTold writes the outputs that the apply told into a file, if it told them and the tool was
// not asked for them yet.
func (s *stage) keepTold(ctx context.Context, path string) (bool, error) {
	if s.isBegun(ctx, phaseOutput) {
		return false, nil
	}
	process, err := s.executor.settings.Commands.Find(ctx, commandIn(s.folder, phaseApply))
	if err != nil {
		return false, err
	}
	told, err := toldOutputs(process.Output())
	if err != nil || told == nil {
		return false, err
	}
	err = writeFile(path, func(f *os.File) error {
		_, err := f.Write(told)
		return err
	})
	return err == nil, err
}

// errored is where the tool has left the state that it could not store: where it works, which with
// Terragrunt is in a folder of its making; or where the executor had it on its way to what is kept. It is empty where
// there is none.
func (s *stage) errored() (path string) {
	for _, path := range []string{asideIn(s.folder), filepath.Join(s.directory(), erroredState)} {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	path = ""
	_ = filepath.WalkDir(filepath.Join(s.directory(), backend.TerragruntCache),
		func(there string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Name() == erroredState {
				path = there
				return fs.SkipAll
			}
			return nil
		})
	return path
}

// saveErrored brings the state that the tool could not store to the server, or else keeps it on
// this machine, and says where.
func (s *stage) saveErrored(held context.Context) error {
	path := s.errored()
	if path == "" {
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
	path := s.errored()
	if path == "" {
		return nil
	}
	if err := s.executor.putOnce(ctx, s.hold(), artefactErrored, s.folder, path); err == nil {
		return nil
	}
	_ = s.keepErrored(path, nil)
	return nil
}
