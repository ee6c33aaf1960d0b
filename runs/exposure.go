package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs/plainlog"
)

// seen is the run as the caller may see it: what a tool has said of it may have values of its state.
func (s *Service) seen(p auth.Principal, run Run) Run {
	if p.SeesValues(run.Workspace) {
		return run
	}
	run.Reason = plainlog.Reason(run.Reason)
	plain := make([]api.Diagnostic, len(run.Diagnostics))
	for i, d := range run.Diagnostics {
		_, summary, _ := strings.Cut(s.plain.Line("Error: "+d.Summary), ": ")
		plain[i] = api.Diagnostic{Severity: d.Severity, Summary: summary, Address: d.Address, File: d.File, Line: d.Line}
	}
	run.Diagnostics = plain
	return run
}

// seenEvents are events as the caller may see them.
func (s *Service) seenEvents(p auth.Principal, run Run, all []Event) []Event {
	if p.SeesValues(run.Workspace) {
		return all
	}
	for i := range all {
		all[i].Note = plainlog.Reason(all[i].Note)
	}
	return all
}

// maxMasked is how large a list of changes may be that is masked as a whole: what is kept of values takes less.
const maxMasked = 4 * maxShown

// seenChanges is what a plan would change as the caller may see it.
func (s *Service) seenChanges(p auth.Principal, run Run, kept io.Reader) (io.Reader, error) {
	if p.SeesValues(run.Workspace) {
		return kept, nil
	}
	raw, err := io.ReadAll(io.LimitReader(kept, maxMasked+1))
	if err != nil {
		return nil, err
	}
	var all api.RunChanges
	if len(raw) > maxMasked || json.Unmarshal(raw, &all) != nil {
		return nil, fault.New(fault.RunFileNotFound, "the run's changes are too many to be shown without their values")
	}
	raw, err = json.Marshal(withoutValues(all))
	return bytes.NewReader(raw), err
}

// maxTold is how large a list of changes may be that people are told in a comment, which has less room by far.
const maxTold = 4 << 20

// ChangesTold is what a run's plan changes, as those may see it who read notices; the counts alone of what is too much.
// Fault: RunFileNotFound.
func (s *Service) ChangesTold(ctx context.Context, ref Ref) (*api.RunChanges, error) {
	run, err := s.Store.Run(ctx, ref)
	if err != nil {
		return nil, err
	}
	file, err := s.newest(ctx, ref, FileChanges)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(s.open(ctx, file), maxTold+1))
	if err != nil {
		return nil, err
	}
	var all api.RunChanges
	if len(raw) > maxTold && run.Counts != nil {
		return &api.RunChanges{Counts: *run.Counts, Cut: true}, nil
	}
	if json.Unmarshal(raw, &all) != nil {
		return nil, fault.New(fault.RunFileNotFound, "the run's changes can't be read")
	}
	if s.showsNone(run) {
		all = withoutValues(all)
	}
	return &all, nil
}

// showsNone reports whether nobody is shown values of the run's state.
func (s *Service) showsNone(run Run) bool {
	return s.Access != nil && s.Access.StateAccess(run.Org, run.Workspace) == auth.AccessInternal
}

// masked stands in the place of a value that is a text.
const masked = "(not shown)"

// withoutValues takes every value out of a list of changes.
func withoutValues(all api.RunChanges) api.RunChanges {
	null := json.RawMessage("null")
	for _, list := range [][]api.RunChange{all.Changes, all.Drift} {
		for i := range list {
			list[i].Before, list[i].After, list[i].Unknown = null, null, nil
			if list[i].Import != "" {
				list[i].Import = masked
			}
		}
	}
	for i := range all.Outputs {
		all.Outputs[i].Before, all.Outputs[i].After = null, null
	}
	return all
}

// Access says how much of a state people are shown.
type Access interface {
	StateAccess(org uuid.UUID, state string) auth.StateAccess
}

// noteOf is why a run is where it is, as those may learn it who read the audit log and notices.
func (s *Service) noteOf(run Run) string {
	if s.showsNone(run) {
		return plainlog.Reason(run.Reason)
	}
	return run.Reason
}

// maxPlainLine is how long a line of a log may be to be shown where values are not.
const maxPlainLine = 64 << 10

// plainLog reads whole lines of a log from an offset, and keeps those without values. read returns what is at an
// offset; nothing at the end. ended says that nothing will follow.
func (s *Service) plainLog(offset int64, read func(offset int64) (text []byte, ended bool, err error)) (Log, error) {
	var text []byte
	for {
		more, ended, err := read(offset + int64(len(text)))
		if err != nil {
			return Log{}, err
		}
		text = append(text, more...)
		end := bytes.LastIndexByte(text, '\n') + 1
		switch {
		case end == 0 && len(more) == 0 && !ended:
			return Log{End: offset}, nil // the line goes on
		case end == 0 && (len(text) > maxPlainLine || ended):
			end = len(text)
		case end == 0:
			continue
		}
		return Log{Text: s.plain.Keep(text[:end]), End: offset + int64(end), Ended: ended && len(text) == 0}, nil
	}
}

// plainPart is Watch.Log for who is shown no values.
func (w *Watch) plainPart(ctx context.Context, stream Stream, attempt int, offset int64) (*LogPart, error) {
	from := offset
	for {
		var raw *LogPart
		log, err := w.service.plainLog(from, func(at int64) ([]byte, bool, error) {
			part, err := w.log(ctx, stream, attempt, at)
			if err != nil {
				return nil, false, err
			}
			raw, attempt = part, part.Attempt
			return part.Text, part.Ended, nil
		})
		if err != nil {
			return nil, err
		}
		log.Attempt = raw.Attempt
		if len(log.Text) > 0 || log.End == from || log.Ended {
			return &LogPart{Log: log, Offset: offset}, nil
		}
		from = log.End // nothing of it is shown: go on
	}
}
