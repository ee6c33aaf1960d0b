package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/state"
)

// remote makes cmd one that asks a server: it gets the flags for that, and their help.
func (a *app) remote(cmd *cobra.Command,
	do func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	return a.remoteBy(cmd, &clientFlags{}, do)
}

// remoteBy is remote for who needs the flags, too.
func (a *app) remoteBy(cmd *cobra.Command, flags *clientFlags,
	do func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	flags.add(cmd)
	cmd.Long += "\n\n" + clientHelp
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.client(*flags)
		if err != nil {
			return err
		}
		return withState(cmd.Context(), c, cmd, args, do(cmd.Context(), c, args))
	}
	return cmd
}

// ofState checks what names a state: the first argument of a command.
func ofState(count cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := count(cmd, args)
		if err == nil {
			_, err = state.ParseName(args[0])
		}
		return err
	}
}

// success is the status of what was done, as the server says it.
const success = "success"

// The flags that several of these commands have.

func addJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

func addLinesFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON, one line for each")
}

func addYesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "don't ask")
}

func addReasonFlag(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "reason", "", "why; it is recorded")
}

func addLimitFlag(cmd *cobra.Command, limit *int, standard int) {
	text := "at most so many; 0 for all"
	if standard == 0 {
		text = "at most so many (default: all)"
	}
	cmd.Flags().IntVar(limit, "limit", standard, text)
}

func checkLimit(limit int) error {
	if limit < 0 {
		return usagef("--limit: it is below zero")
	}
	return nil
}
