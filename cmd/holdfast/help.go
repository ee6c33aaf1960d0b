package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	// helpColumns is how wide the help is: what every terminal has.
	helpColumns = fallbackColumns
	// flagColumns is how wide the names of flags may be for their text to stand beside them.
	flagColumns = 28
)

// tidyHelp makes the help of cmd, and of the commands below it, fit into a terminal.
func tidyHelp(cmd *cobra.Command) {
	cmd.Long = reflow(cmd.Long, helpColumns)
	if cmd.Long == "" {
		cmd.Long = reflow(cmd.Short, helpColumns)
	}
	cmd.Example = continued(cmd.Example, helpColumns)
	for _, child := range cmd.Commands() {
		tidyHelp(child)
	}
}

// reflow fills the lines of each paragraph anew. Indented lines stay as they are: they are lists
// and commands.
func reflow(text string, width int) string {
	var lines []string
	paragraph := ""
	end := func() {
		if paragraph != "" {
			lines = append(lines, wrap("", 0, paragraph, width)...)
		}
		paragraph = ""
	}
	for _, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == ' ' {
			end()
			lines = append(lines, line)
			continue
		}
		paragraph = strings.TrimPrefix(paragraph+" "+line, " ")
	}
	end()
	return strings.Join(lines, "\n")
}

// continued breaks command lines that are too long, in such a way that they can be pasted.
func continued(text string, width int) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		words := shellWords(line[indent:])
		lines = append(lines, strings.Repeat(" ", indent))
		for i, word := range words {
			last := &lines[len(lines)-1]
			if i > 0 && len([]rune(*last+" "+word+` \`)) > width {
				*last += ` \`
				lines = append(lines, strings.Repeat(" ", indent+4)+word)
				continue
			}
			if i > 0 {
				*last += " "
			}
			*last += word
		}
	}
	return strings.Join(lines, "\n")
}

// shellWords splits a command line at blanks that are not within quotes.
func shellWords(line string) (words []string) {
	quote, start := rune(0), 0
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			words, start = append(words, line[start:i]), i+1
		}
	}
	return withValues(append(words, line[start:]))
}

// withValues joins flags with the values that follow them.
func withValues(words []string) (all []string) {
	for i, word := range words {
		isValue := i > 0 && strings.HasPrefix(words[i-1], "-") && !strings.ContainsAny(words[i-1], "= ") &&
			!strings.ContainsAny(word[:min(1, len(word))], "-|>&")
		if isValue {
			all[len(all)-1] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

// showUsage is the part of the help below what a command is for.
func showUsage(cmd *cobra.Command) error {
	out := cmd.OutOrStderr()
	fmt.Fprint(out, "Usage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		showLines(out, wrap("  ", 6, cmd.UseLine(), helpColumns))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(out, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	showCommands(out, cmd)
	showFlags(out, cmd.LocalFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(out, "\n`%s COMMAND --help` says more of one.\n", cmd.CommandPath())
	}
	return nil
}

func showLines(out io.Writer, lines []string) { fmt.Fprintln(out, strings.Join(lines, "\n")) }

func showCommands(out io.Writer, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	fmt.Fprint(out, "\nCommands:\n")
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			label := "  " + pad(child.Name(), cmd.NamePadding()) + " "
			showLines(out, wrap(label, len(label), child.Short, helpColumns))
		}
	}
}

func showFlags(out io.Writer, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprint(out, "\nFlags:\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, text := pflag.UnquoteUsage(f)
		label := "      --" + f.Name
		if f.Shorthand != "" {
			label = "  -" + f.Shorthand + ", --" + f.Name
		}
		if kind != "" {
			label += " " + kind
		}
		label = pad(label, flagColumns) + "  "
		if len(label) > flagColumns+2 {
			fmt.Fprintln(out, strings.TrimRight(label, " "))
			label = strings.Repeat(" ", flagColumns+2)
		}
		showLines(out, wrap(label, flagColumns+2, text+standardOf(f), helpColumns))
	})
}

// standardOf says what a flag is without being given, unless that goes without saying.
func standardOf(f *pflag.Flag) string {
	switch {
	case f.DefValue == "", f.DefValue == "false", f.DefValue == "0", f.DefValue == "0s", f.DefValue == "[]",
		strings.Contains(f.Usage, "(default"):
		return ""
	case f.Value.Type() == "string":
		return fmt.Sprintf(" (default %q)", f.DefValue)
	}
	return " (default " + f.DefValue + ")"
}
