package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

// diffFlags are what the command lines of the diffs say.
type diffFlags struct {
	against           uint64
	sensitive, asJSON bool
}

func (f *diffFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.sensitive, "sensitive", false, "show sensitive values; that is recorded")
	addJSONFlag(cmd, &f.asJSON)
}

func newStateDiffCommand(a *app) *cobra.Command {
	var flags diffFlags
	cmd := a.remote(&cobra.Command{
		Use:   "diff NAME [VERSION]",
		Short: "Show what changed between two versions",
		Long: "Show how a version, the newest without a number, differs from the one before it, or from\nthe one that " +
			"--against names. Sensitive values are masked.",
		Example: `  holdfast state diff prod/network
  holdfast state diff prod/network 7 --against 4
  holdfast state diff prod/network --json | jq .summary`,
		Args: ofState(cobra.RangeArgs(1, 2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		number, err := versionOr(ctx, c, args)
		if err != nil {
			return err
		}
		return a.diff(ctx, c, args[0], number, flags)
	})
	cmd.Flags().Uint64Var(&flags.against, "against", 0, "compare with this version (default: the one before)")
	flags.add(cmd)
	return cmd
}

// versionOr reads the second argument, or finds the newest version of the state that the
// first one names.
func versionOr(ctx context.Context, c *client.Client, args []string) (uint64, error) {
	if len(args) > 1 {
		return readVersion(args[1])
	}
	found, err := existing(ctx, c, args[0])
	if err != nil {
		return 0, err
	}
	return found.Version.Number, nil
}

// diff shows how a version differs from an older one.
func (a *app) diff(ctx context.Context, c *client.Client, name string, number uint64, flags diffFlags) error {
	return a.showDiff(flags, func(o client.DiffOptions) (io.ReadCloser, error) { return c.OpenDiff(ctx, name, number, o) })
}

// showDiff shows the diff that open opens.
func (a *app) showDiff(flags diffFlags, open func(client.DiffOptions) (io.ReadCloser, error)) error {
	found, err := open(client.DiffOptions{Against: flags.against, Sensitive: flags.sensitive, Text: !flags.asJSON})
	if err != nil {
		return err
	}
	defer found.Close()
	if flags.asJSON {
		_, err = io.Copy(a.stdout, found)
		return err
	}
	return a.copyDiff(found)
}

// copyDiff copies the text of a diff, with its signs in colour on a terminal.
func (a *app) copyDiff(text io.Reader) error {
	in, out := bufio.NewReader(text), bufio.NewWriter(a.stdout)
	for {
		line, err := in.ReadString('\n')
		if _, err := out.WriteString(a.paintSign(line)); err != nil {
			return err
		}
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			_ = out.Flush()
			return err
		}
	}
}

// paintSign colours the sign that a line begins with.
func (a *app) paintSign(line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(rest) < 2 || rest[1] != ' ' {
		return line
	}
	code, ok := map[byte]string{'+': green, '-': red, '~': yellow}[rest[0]]
	if !ok {
		return line
	}
	return line[:len(line)-len(rest)] + a.paint(code, rest[:1]) + rest[1:]
}
