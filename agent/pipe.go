package agent

import (
	"context"
	"io"
	"strings"

	"github.com/holdfast/holdfast/agent/runlog"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/ansi"
)

// summary is what a command said, short of all of it.
type summary struct {
	found    []api.Diagnostic
	inFlight []api.InFlight
	work     api.Work
	tail     string // the end of what was shown, without colours
}

// pipe is the way of a command's output into the log: secrets are masked, lines of JSON become
// text for people, and secrets are masked once more, in the form that they have then.
type pipe struct {
	in     io.WriteCloser
	events *events
	out    io.WriteCloser
	tail   *tail
}

func (s *stage) newPipe(ctx context.Context, json bool) *pipe {
	p := &pipe{tail: &tail{}}
	p.out = s.masker.Writer(io.MultiWriter(runlog.Steady{Context: ctx, Log: s.masked}, ansi.NewStripper(p.tail)))
	if !json {
		p.in = s.masker.Writer(p.out)
		return p
	}
	p.events = newEvents(p.out, s.applies())
	p.in = s.masker.Writer(p.events)
	s.sight.watch(p.events.inFlight)
	return p
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) { return p.in.Write(b) }

// close brings what is held back into the log, and says what there was.
func (p *pipe) close() summary {
	_ = p.in.Close() // the log's errors are waited out, or end with the executor
	var found summary
	if p.events != nil {
		_ = p.events.Close()
		found.found, found.inFlight, found.work = p.events.found(), p.events.inFlight(), p.events.work()
	}
	_ = p.out.Close()
	found.tail = p.tail.String()
	return found
}

// say writes the executor's own words into the log.
func (s *stage) say(ctx context.Context, text string) {
	out := s.masker.Writer(runlog.Steady{Context: ctx, Log: s.masked})
	_, _ = io.WriteString(out, text)
	_ = out.Close()
}

// note is say, for words that another executor could not know.
func (s *stage) note(ctx context.Context, text string) {
	s.record.Notes[s.record.Phase] += text
	s.attempt("note what is shown", func() error { return s.record.save(s.folder) })
	s.say(ctx, text)
}

func header(phase string) string { return "[holdfast: " + phase + "]\n" }

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

const maxTail = 32 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.kept), "") }
