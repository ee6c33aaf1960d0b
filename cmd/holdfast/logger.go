package main

import (
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/logctx"
)

// newLogger writes text to a terminal and JSON elsewhere, unless the settings choose.
// Its lines carry the attributes of their context.
func newLogger(w io.Writer, settings configs.Log) *slog.Logger {
	text := settings.Format == configs.FormatText || settings.Format == configs.FormatAuto && isTerminal(w)
	options := &slog.HandlerOptions{Level: settings.Level}
	if text && isTerminal(w) {
		options.ReplaceAttr = timeOfDay
	}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if text {
		handler = slog.NewTextHandler(w, options)
	}
	return slog.New(logctx.Handler(handler))
}

// timeOfDay shortens the time of a line for who is looking on.
func timeOfDay(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey && attr.Value.Kind() == slog.KindTime {
		return slog.String(slog.TimeKey, attr.Value.Time().Format(time.TimeOnly))
	}
	return attr
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
