package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand is for those who make packages, and so is not listed.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write a man page for each command",
		Long:   "Write a man page for each command into a folder, which is made.",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.InitDefaultCompletionCmd()
			root.DisableAutoGenTag = true
			// The version alone says how old a page is, so that building it again gives the same bytes.
			return doc.GenManTree(root,
				&doc.GenManHeader{Section: "1", Source: "Holdfast " + version, Manual: "Holdfast", Date: new(time.Time)}, args[0])
		},
	}
}
