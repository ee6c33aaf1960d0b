package oplog

import (
	"context"
	"io"
	"log/slog"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// New writes the lines that are at least of the level, as JSON or for people.
func New(w io.Writer, level slog.Leveler, asJSON bool) *slog.Logger {
	if !asJSON {
		return slog.New(&human{w: w, level: level, mu: &sync.Mutex{}})
	}
	return slog.New(placed{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: renamed})})
}

// renamed calls the time and the message of a line as collectors of logs do.
func renamed(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.TimeKey:
		return slog.String("timestamp", a.Value.Time().UTC().Format(time.RFC3339Nano))
	case slog.MessageKey:
		a.Key = "message"
	}
	return a
}

// placed adds to each line where it was written.
type placed struct{ slog.Handler }

func (p placed) Handle(ctx context.Context, r slog.Record) error {
	if r.PC != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
		r = r.Clone()
		r.AddAttrs(slog.String("module", strings.TrimSuffix(path.Base(frame.File), ".go")),
			slog.String("function", path.Base(frame.Function)), slog.Int("line", frame.Line))
	}
	return p.Handler.Handle(ctx, r)
}

func (p placed) WithAttrs(attrs []slog.Attr) slog.Handler { return placed{p.Handler.WithAttrs(attrs)} }
func (p placed) WithGroup(name string) slog.Handler       { return placed{p.Handler.WithGroup(name)} }

// human writes lines such as: 14:30:00 [k3v7x2m5] INFO engine.apply: an object's step is done address=file.a
type human struct {
	w      io.Writer
	level  slog.Leveler
	mu     *sync.Mutex // guards w
	id     string
	logger string
	more   string // attributes, as they are written
	group  string // with a dot behind it
}

func (h *human) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

func (h *human) Handle(_ context.Context, r slog.Record) error {
	line := *h
	r.Attrs(func(a slog.Attr) bool {
		line.add(a)
		return true
	})
	text := r.Time.Format(time.TimeOnly) + " [" + line.id + "] " + r.Level.String() + " " + line.logger + ": " +
		r.Message + line.more + "\n"
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, text)
	return err
}

// add has the line say one attribute more.
func (h *human) add(a slog.Attr) {
	value := a.Value.Resolve()
	switch {
	case a.Key == IDKey:
		h.id = value.String()
	case a.Key == LoggerKey:
		h.logger = value.String()
	default:
		text := value.String()
		if text == "" || strings.ContainsFunc(text, needsQuotes) {
			text = strconv.Quote(text)
		}
		h.more += " " + h.group + a.Key + "=" + text
	}
}

func (h *human) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		with.add(a)
	}
	return &with
}

func (h *human) WithGroup(name string) slog.Handler {
	with := *h
	with.group += name + "."
	return &with
}

// needsQuotes reports whether a value with this character in it would not be seen as one.
func needsQuotes(c rune) bool { return c <= ' ' || c == '"' || c == '=' || c >= 0x7f }
