package main

import (
	"cmp"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine/oplog"
)

// logFlags adds the flags of the engine's log, and has each command be one operation with an ID of its own.
func (f *engineFlags) logFlags(a *app, cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.logLevel, "log-level", "", "log to stderr what is at least debug, info, warn or error")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json")
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		log, err := f.log(a)
		if err == nil {
			cmd.SetContext(oplog.Begin(cmd.Context(), log))
		}
		return err
	}
}

// log is the log that the flags ask for, or HOLDFAST_ENGINE_LOG_LEVEL and HOLDFAST_ENGINE_LOG_FORMAT; nil for none.
func (f *engineFlags) log(a *app) (*slog.Logger, error) {
	name := cmp.Or(f.logLevel, a.getenv("HOLDFAST_ENGINE_LOG_LEVEL"))
	if name == "" {
		return nil, nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return nil, usagef("--log-level is debug, info, warn or error")
	}
	format := cmp.Or(f.logFormat, a.getenv("HOLDFAST_ENGINE_LOG_FORMAT"), "text")
	if format != "text" && format != "json" {
		return nil, usagef("--log-format is text or json")
	}
	return oplog.New(a.stderr, level, format == "json"), nil
}

// logCommands has the log say which command an operation is of, and what a command fails with: also if nothing is
// planned yet.
func logCommands(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		logCommands(child)
	}
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		log := oplog.From(ctx, "command").With("command", cmd.CommandPath())
		log.DebugContext(ctx, "a command begins")
		err := run(cmd, args)
		var code exitCode
		if err != nil && !errors.As(err, &code) { // a code alone is an answer
			log.ErrorContext(ctx, "a command has failed", "exception", err.Error())
		}
		return err
	}
}
