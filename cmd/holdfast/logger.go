package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/logctx"
)

// newLogger writes text to a terminal and JSON elsewhere, unless the settings choose.
// Its lines carry the attributes of their context.
func newLogger(w io.Writer, settings configs.Log) *slog.Logger {
	options := &slog.HandlerOptions{Level: settings.Level}
	text := settings.Format == configs.FormatText || settings.Format == configs.FormatAuto && isTerminal(w)
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if text {
		handler = slog.NewTextHandler(w, options)
	}
	return slog.New(logctx.Handler(handler))
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
