package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/agent/runlog"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/mask"
	"github.com/holdfast/holdfast/internal/pause"
)

// stage is a stage of a run that this executor has.
type stage struct {
	executor   *Executor
	assignment api.Assignment
	folder     string
	record     *record
	log        *slog.Logger
	masker     *mask.Masker
	masked     *runlog.Log
	places     places // of the log on the server
	cancels    *cancels
	tool       Binary
	config     ToolConfiguration
	// initialized is what the init of a plan has made, and planned says that the plan went well.
	initialized *initOf
	planned     bool
	// stranded says that the folder may have a state that is nowhere else, and that can't be kept beside it: it stays.
	stranded bool
	// overfull says that there is more in the folder than there may be.
	overfull atomic.Bool
	// lost is closed when the server says that the run is not this executor's any more.
	lost     chan struct{}
	loseOnce sync.Once
	// poke has the lease renewed at once.
	poke chan struct{}
	// sight is what the lease tells of the command that goes on.
	sight sight
}

// errDetached says that the executor ends, and leaves the stage as it is for the next one.
var errDetached = errors.New("the executor ends")

func (e *Executor) newStage(a api.Assignment, folder string, r *record) *stage {
	return &stage{
		executor: e, assignment: a, folder: folder, record: r, cancels: newCancels(), lost: make(chan struct{}),
		poke:   make(chan struct{}, 1),
		masker: mask.New(e.secrets(a)),
		log:    e.log.With("run", a.Run, "workspace", a.Workspace, "stage", a.Stage, "attempt", a.Attempt, "epoch", a.Epoch),
	}
}

func (s *stage) hold() Hold {
	a := s.assignment
	return Hold{Run: a.Run, Token: a.Token, Stage: a.Stage, Attempt: a.Attempt, Epoch: a.Epoch}
}

// applies reports whether the stage may change something: then its command is never killed
// merely because the server gave the run up.
func (s *stage) applies() bool { return s.assignment.Stage == stageApply }

// lose notes that the run is somebody else's now.
func (s *stage) lose() {
	s.loseOnce.Do(func() {
		s.log.Warn("the server has given this run to somebody else, or up")
		close(s.lost)
		if s.applies() {
			s.cancels.raise(soft)
		} else {
			s.cancels.raise(hard)
		}
	})
}

// isLoss reports whether an error says that the run is not the caller's any more.
func isLoss(err error) bool {
	return fault.Is(err, fault.EpochOld) || fault.Is(err, fault.CredentialsRevoked) || fault.Is(err, fault.RunNotFound)
}

func (s *stage) isLost() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// carryOut goes through the stage's phases to their end. It returns errDetached where the
// executor ended before, and everything is to stay as it is.
func (s *stage) carryOut(ctx context.Context) error {
	held, release := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer func() {
		release()
		background.Wait()
		if s.masked != nil {
			s.masked.Close()
		}
	}()
	go func() { // what concerns the server alone ends when the run is lost
		select {
		case <-s.lost:
			release()
		case <-held.Done():
		}
	}()
	background.Go(func() { s.renew(held) })
	err := s.withRoom(held, "the log", func() (err error) {
		if s.places, err = readPlaces(s.folder, s.assignment.LogFrom); err != nil {
			return err
		}
		s.masked, err = runlog.Create(logIn(s.folder), s.assignment.MaxLogBytes)
		return err
	})
	if err != nil {
		return s.giveUp(ctx, err)
	}
	if s.assignment.LogFrom > 0 {
		s.say(ctx, triedAgain)
	}
	sent := make(chan struct{})
	background.Go(func() { defer close(sent); s.send(held) })
	return s.phases(ctx, held, sent)
}

// phases goes through the phases from where the stage is.
func (s *stage) phases(ctx, held context.Context, sent <-chan struct{}) error {
	replaying := s.record.Phase != ""
	s.sight.begin(s.record.Phase)
	for _, p := range phasesOf(s.assignment.Stage) {
		if replaying && p.name != s.record.Phase {
			if err := s.replay(ctx, p); err != nil {
				return s.detached(ctx, err)
			}
			continue
		}
		if !replaying {
			if err := s.withRoom(held, "that a phase begins", func() error { return s.begin(p.name) }); err != nil {
				return s.giveUp(ctx, err)
			}
		}
		replaying = false
		done := s.do(ctx, held, p)
		if ctx.Err() != nil {
			return errDetached
		}
		if s.isLost() {
			return s.afterLoss(ctx)
		}
		over := done.Last || done.Outcome != succeeded
		if over {
			done.Last = true
			s.finishLog(held, sent)
		}
		goOn, err := s.report(ctx, held, done)
		if err == nil && over {
			s.planned = !s.applies() && done.Outcome == succeeded
			return nil // what the lease says now is that the stage has ended
		}
		if s.isLost() && ctx.Err() == nil {
			return s.afterLoss(ctx)
		}
		if err != nil || over || !goOn {
			return s.detached(ctx, err)
		}
	}
	return nil
}

// detached is the error of an ended executor where it is that, and else logs what went wrong and
// can't be helped: the run's lease ends, and the server decides.
func (s *stage) detached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errDetached
	}
	if err != nil && !isLoss(err) {
		s.log.ErrorContext(ctx, "the stage ends here", "error", err)
	}
	return nil
}

// begin notes that a phase begins, before anything of it does.
func (s *stage) begin(name string) error {
	s.record.Phase, s.record.PhaseBegan, s.record.Interrupted = name, time.Now(), time.Time{}
	s.sight.begin(name)
	select {
	case s.poke <- struct{}{}:
	default:
	}
	return s.record.save(s.folder)
}

// giveUp reports a stage whose folder can't be worked with.
func (s *stage) giveUp(ctx context.Context, err error) error {
	s.log.ErrorContext(ctx, "the run folder can't be used", "error", err)
	held, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	r := failed(infrastructure, "the agent can't work in its folder: "+reason(err))
	r.Phase, r.Last = cmp.Or(s.record.Phase, phasePrepare), true
	_, err = s.report(ctx, held, r)
	return s.detached(ctx, err)
}

// finishLog waits until the server has the whole log, but not for ever: an outcome is worth
// more than its log's end.
func (s *stage) finishLog(held context.Context, sent <-chan struct{}) {
	for s.masked.End() != nil { // the disk is full
		if pause.For(held, time.Second) != nil {
			return
		}
	}
	patience := time.NewTimer(s.executor.settings.LogPatience)
	defer patience.Stop()
	select {
	case <-sent:
	case <-held.Done():
	case <-patience.C:
		s.keepLog()
	}
}

// send brings the log to the server.
func (s *stage) send(ctx context.Context) {
	sender := runlog.Sender{Log: s.masked, Pause: pause.For, Append: s.appendLog, Judge: judgeLog}
	err := sender.Run(ctx)
	switch {
	case isLoss(err):
		s.lose()
	case err != nil && ctx.Err() == nil:
		s.log.ErrorContext(ctx, "the rest of the log is not accepted", "sent", sender.Sent(), "error", err)
		s.keepLog()
	}
}

func (s *stage) appendLog(ctx context.Context, offset int64, piece []byte) (int64, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	to, n := s.places.of(offset, len(piece))
	end, err := s.executor.settings.Server.AppendLog(ctx, s.hold(), to, piece[:n])
	if fault.Is(err, fault.LogMismatch) {
		return s.placeAnew(ctx, s.places.back(end, offset, n), piece[:n], offset)
	}
	if fault.Is(err, fault.LogGap) && end < s.places[0].To { // a server that has lost what is before this try
		if _, failed := s.placeAnew(ctx, 0, nil, 0); failed != nil {
			return offset, failed
		}
	}
	at := s.places.back(end, 0, math.MaxInt)
	if beyond := offset + int64(n); err == nil && at > beyond {
		// The server has more already, of an executor before. Its end is compared with what is here:
		// that may go otherwise.
		at = max(beyond, at-compared)
	}
	return at, err
}

// compared is how much of what the server has of a log already is sent once more.
const compared = 1 << 20

func judgeLog(err error) runlog.Verdict {
	switch {
	case fault.Is(err, fault.LogGap):
		return runlog.Elsewhere
	case isFinal(err):
		return runlog.Never
	}
	return runlog.Again
}

// report tells the server how a phase ended. It goes on telling when the lease is lost meanwhile:
// the report may have been what ended it.
func (s *stage) report(ctx, held context.Context, r api.PhaseReport) (goOn bool, err error) {
	a := s.assignment
	r.Epoch, r.Stage, r.Attempt = a.Epoch, a.Stage, a.Attempt
	bound(&r)
	if r.Phase == "" {
		r.Phase = s.record.Phase
	}
	until := held
	if r.Last {
		until = ctx
	}
	err = persist(until, s.log, "the report of a phase", func(ctx context.Context) error {
		ctx, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		answer, err := s.executor.settings.Server.Report(ctx, s.hold(), r)
		goOn = answer.Continue
		return err
	})
	if isLoss(err) && !r.Last {
		s.lose()
	}
	s.log.InfoContext(ctx, "a phase ended", "phase", r.Phase, "outcome", r.Outcome, "class", r.Class, "exit_code",
		r.ExitCode)
	return goOn, err
}
