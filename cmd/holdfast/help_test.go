package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// everyCommand calls visit with each command that people are told of.
func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	if cmd.Hidden {
		return
	}
	visit(cmd)
	for _, child := range cmd.Commands() {
		everyCommand(child, visit)
	}
}

// The help of every command fits into a terminal, and shows how the command is used.
func TestHelp(t *testing.T) {
	var out strings.Builder
	root := newRootCommand(newShell(t).app(&out, &out))
	root.SetOut(&out)
	everyCommand(root, func(cmd *cobra.Command) {
		out.Reset()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpColumns {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		if !cmd.HasSubCommands() && !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s --help has no example of it", cmd.CommandPath())
		}
	})
}

func TestReflow(t *testing.T) {
	have := reflow("one two\nthree four five\n\n  a list that stays as it is\nsix", 12)
	if want := "one two\nthree four\nfive\n\n  a list that stays as it is\nsix"; have != want {
		t.Errorf("%q", have)
	}
}
