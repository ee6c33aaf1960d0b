package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/holdfast/holdfast/agent/runlog"
	"github.com/holdfast/holdfast/api"
)

// outcome is what is known of a command that has ended.
type outcome struct {
	exit    Exit
	stdout  string // the file, where it is apart
	spool   string
	summary summary
	sandbox *api.Sandbox
	// interrupted says that it was asked to end early.
	interrupted bool
}

// command runs a phase's command to its end, or goes on with the one that was started already,
// and shows what it prints in the log.
func (s *stage) command(ctx context.Context, p string, json, apart bool, args ...string) (out outcome, err error) {
	s.say(ctx, header(p))
	err = s.withRoom(ctx, "the command of "+p, func() (err error) {
		out, err = s.commandOnce(ctx, p, json, apart, args)
		return err
	})
	return out, err
}

func (s *stage) commandOnce(ctx context.Context, p string, json, apart bool, args []string) (outcome, error) {
	process, err := s.started(ctx, p, apart, args)
	if err != nil {
		return outcome{}, err
	}
	s.sight.see(process.Evidence(), process.Sandbox())
	measured, stop := context.WithCancel(ctx)
	defer stop()
	go s.watchSpace(measured)
	ended := make(chan struct{})
	shown := make(chan summary, 1)
	go func() { shown <- s.follow(ctx, p, json, process.Output(), ended) }()
	exit, err := s.await(ctx, process)
	close(ended)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{exit: exit, stdout: process.Stdout(), spool: process.Output(), sandbox: process.Sandbox(),
		interrupted: !s.record.Interrupted.IsZero()}
	select {
	case out.summary = <-shown:
	case <-ctx.Done():
		return outcome{}, ctx.Err()
	}
	stop()
	if p == phaseInit || p == phasePlan { // whose end may have come before a look
		s.measure(ctx)
	}
	return out, nil
}

// started returns the phase's command. An ended one that its executor never heard of is found as
// well as one that goes on: no command is ever started twice.
func (s *stage) started(ctx context.Context, p string, apart bool, args []string) (Process, error) {
	folder := commandIn(s.folder, p)
	process, err := s.executor.settings.Commands.Find(ctx, folder)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return process, err
	}
	if p == phaseApply && s.record.Inputs != "" && s.record.Inputs != s.assignment.Inputs {
		return nil, &unusable{"the variables were changed after this executor had got the apply, and before its " +
			"tool was begun"}
	}
	if err := s.equip(ctx); err != nil {
		return nil, err
	}
	env, err := s.environment()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(folder), 0o700), s.handOver()); err != nil {
		return nil, err
	}
	read, write := s.config.Cache, []string(nil)
	if p == phaseInit {
		read, write = nil, s.config.Cache
	}
	return s.executor.settings.Commands.Start(ctx, Command{
		Folder: folder, Path: s.tool.Path, Args: slices.Concat(s.tool.Args, args), Dir: s.directory(), Env: env, Apart: apart,
		Read: slices.Concat(s.tool.Read, s.config.Read, read, s.executor.readable(),
			[]string{s.tool.Path, cliConfigIn(s.folder)}),
		Write: slices.Concat(s.writable(), write),
		Least: s.leastSandbox(), Patience: time.Duration(s.assignment.Grace) * time.Second,
	})
}

// await waits for a command, and ends it early where that is wanted: by an interrupt first, and
// by force where the server says so, or where the stage has no more time.
func (s *stage) await(ctx context.Context, process Process) (Exit, error) {
	type result struct {
		exit Exit
		err  error
	}
	over := make(chan result, 1)
	go func() {
		exit, err := process.Wait(ctx)
		over <- result{exit, err}
	}()
	killed := false
	for {
		level, changed := s.cancels.state()
		if s.overfull.Load() && !s.record.TooLarge {
			s.record.TooLarge = true
			s.attempt("note that the folder is too large", func() error { return s.record.save(s.folder) })
		}
		// The apply is done when its outputs are read: nothing is to be saved by ending that softly.
		if level >= soft && !killed && (level == hard || s.record.Phase != phaseOutput) {
			s.interrupt(process)
		}
		if level == hard && !killed {
			killed = true
			s.attempt("kill the command", process.Kill)
		}
		timer := time.NewTimer(time.Until(s.nextStep(level)))
		select {
		case r := <-over:
			timer.Stop()
			return r.exit, r.err
		case <-changed:
		case <-timer.C:
			s.timePassed(level)
		}
		timer.Stop()
	}
}

// interrupt asks the command to end. The time is noted first: an executor that adopts it counts
// on from there.
func (s *stage) interrupt(process Process) {
	if s.record.Interrupted.IsZero() {
		s.record.Interrupted = time.Now()
		s.attempt("note an interrupt", func() error { return s.record.save(s.folder) })
	}
	s.attempt("interrupt the command", process.Interrupt)
}

func (s *stage) attempt(what string, do func() error) {
	if err := do(); err != nil {
		s.log.Error("can't "+what, "error", err)
	}
}

// farAway is a time that doesn't come.
const farAway = 365 * 24 * time.Hour

// nextStep is when time makes a difference: when the stage has no more, or its grace is over.
func (s *stage) nextStep(l level) time.Time {
	switch {
	case l == soft && s.escalates():
		return s.record.Interrupted.Add(time.Duration(s.assignment.Grace) * time.Second)
	case l < hard && s.assignment.Timeout > 0:
		return s.record.Began.Add(time.Duration(s.assignment.Timeout) * time.Second)
	}
	return time.Now().Add(farAway)
}

// escalates reports whether an interrupt that the command doesn't heed is followed by force. An
// apply that a person cancels is not: killing it may lose what it has made, which somebody has
// to want.
func (s *stage) escalates() bool { return !s.applies() || s.record.TimedOut || s.record.TooLarge }

func (s *stage) timePassed(l level) {
	if l == soft && s.escalates() {
		s.cancels.raise(hard)
		return
	}
	s.record.TimedOut = true
	s.attempt("note that the time is over", func() error { return s.record.save(s.folder) })
	s.cancels.raise(soft)
}

// follow copies what a command prints to the log.
func (s *stage) follow(ctx context.Context, p string, json bool, path string, ended <-chan struct{}) summary {
	pipe := s.newPipe(ctx, json)
	if err := runlog.Follow(ctx, path, ended, pipe); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "can't read what the command printed", "phase", p, "error", err)
	}
	return pipe.close()
}

// replay shows again what a phase that is over had shown: the log is made anew after the
// executor was, from the same bytes, so that its offsets are those that the server knows.
func (s *stage) replay(ctx context.Context, p phase) error {
	ended := make(chan struct{})
	close(ended)
	s.say(ctx, header(p.name))
	switch {
	case p.name == phaseInit && s.record.Initialized:
		s.say(ctx, initializedAlready)
	case p.name != phasePrepare:
		process, err := s.executor.settings.Commands.Find(ctx, commandIn(s.folder, p.name))
		if err != nil {
			return err
		}
		s.follow(ctx, p.name, p.json, process.Output(), ended)
	}
	s.say(ctx, s.record.Notes[p.name])
	return nil
}
