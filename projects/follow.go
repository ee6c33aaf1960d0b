package projects

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
)

// Follower tells what a run prints and where it is, as it goes on. It is of one caller.
type Follower struct {
	// BeforeResult is called before the last message, which has all of a run; nil for nothing.
	BeforeResult func(context.Context) error

	service *Service
	of      project
	watch   *runs.Watch
	id      string
	at      Position
	told    api.ProjectRunBrief // of the last message that had one
	begun   bool
}

// Follow has the caller see a run of a project's go on, from a position on. The caller closes it. Faults:
// RunNotFound, RunInvalid.
func (s *Service) Follow(ctx context.Context, p auth.Principal, name state.Name, id string,
	from Position) (*Follower, error) {
	if err := s.runsOn(); err != nil {
		return nil, err
	}
	of, err := s.find(ctx, p, auth.ReadRun, name)
	if err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, p, name, id); err != nil {
		return nil, err
	}
	watch, err := s.Runs.Watch(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if from.attempt == 0 {
		from = begin()
	}
	return &Follower{service: s, of: of, watch: watch, id: id, at: from}, nil
}

// Close ends the following.
func (f *Follower) Close() { f.watch.Close() }

// More returns what is closed when there may be more than there was before it was called.
func (f *Follower) More() <-chan struct{} { return f.watch.Next() }

// As has all that follows be shown to the caller as it is now. It refuses one who may not see the run any more.
func (f *Follower) As(ctx context.Context, p auth.Principal) error {
	err := f.watch.Allowed(ctx, p)
	if err == nil {
		f.of.caller = p
	}
	return err
}

// Look returns the next message; nil where there is none yet. over says that it is the last one.
func (f *Follower) Look(ctx context.Context) (said *api.ProjectEvent, over bool, err error) {
	run, err := f.watch.Run(ctx)
	if err != nil {
		return nil, false, err
	}
	brief := f.of.brief(run)
	if !f.begun {
		f.begun, f.told = true, brief
		return f.event("run", &brief), false, nil
	}
	text, ended, err := f.log(ctx, run)
	switch {
	case err != nil:
		return nil, false, err
	case text != "":
		said := f.event("log", nil)
		said.Data = text
		return said, false, nil
	case ended && run.Status.Ended():
		return f.result(ctx)
	case moved(f.told, brief):
		f.told = brief
		return f.event("status", &brief), false, nil
	}
	return nil, false, nil
}

// moved reports whether people should be told of where a run is now.
func moved(told, now api.ProjectRunBrief) bool {
	return told.Status != now.Status || told.Reason != now.Reason || told.Approvals != now.Approvals
}

func (f *Follower) event(kind string, run *api.ProjectRunBrief) *api.ProjectEvent {
	return &api.ProjectEvent{Type: kind, Position: f.at.String(), Run: run}
}

func (f *Follower) result(ctx context.Context) (*api.ProjectEvent, bool, error) {
	if f.BeforeResult != nil {
		if err := f.BeforeResult(ctx); err != nil {
			return nil, false, err
		}
	}
	whole, _, err := f.service.withPlan(ctx, f.of.caller, f.of.Name, f.id)
	said := f.event("result", nil)
	said.Result = &whole
	return said, true, err
}

// log reads on, through the logs of all attempts. ended says that nothing will follow.
func (f *Follower) log(ctx context.Context, run runs.Run) (text string, ended bool, err error) {
	for {
		part, err := f.watch.Log(ctx, f.at.stage, f.at.attempt, f.at.offset)
		if err != nil {
			return "", false, err
		}
		if len(part.Text) > 0 {
			text, rest := whole(part.Text)
			f.at.offset = part.End - int64(rest)
			return text, false, nil
		}
		if !part.Ended {
			f.at.offset = max(f.at.offset, part.End)
			return "", false, nil
		}
		next, ok := f.at.next(run)
		if !ok {
			return "", true, nil
		}
		f.at = next
	}
}

// whole is the text as JSON may have it, short of the beginning of a character at its end, of so many bytes.
func whole(text []byte) (said string, rest int) {
	for n := 1; n < utf8.UTFMax && n < len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				rest = n
			}
			break
		}
	}
	return strings.ToValidUTF8(string(text[:len(text)-rest]), "\uFFFD"), rest
}

// Wait returns when a run of a project's has ended, or waits for somebody to decide.
func (s *Service) Wait(ctx context.Context, p auth.Principal, name state.Name, id string) error {
	f, err := s.Follow(ctx, p, name, id, Position{})
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		more := f.More()
		run, err := f.watch.Run(ctx)
		if err != nil || run.Status.Ended() || run.Status == runs.AwaitingApproval {
			return err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
