package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // the command line makes no sense
)

// usageError is a fault of the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, a *app) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	defer a.close()
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if code, ok := codeOf(err); ok {
		return code
	}
	err = inPlainWords(err)
	_, isUsage := errors.AsType[usageError](err)
	a.showFailure(cmd, err, isUsage)
	if isUsage && cmd.Annotations[detailedExit] == "" {
		return exitUsage
	}
	return exitFailed
}

func newRootCommand(a *app) *cobra.Command {
	root := newGroup("holdfast",
		"Keep the Terraform and OpenTofu states of many organizations, and what their providers report")
	root.AddCommand(newServeCommand(a), newInitCommand(a), newOrgCommand(a), newKeyCommand(a), newAuthCommand(a),
		newStateCommand(a), newWorkspaceCommand(a), newConfigCommand(a), newRunCommand(a), newInfraCommand(a),
		newPoolCommand(a), newRepoCommand(a), newLayerCommand(a), newPullCommand(a), newEnclaveCommand(a), newIACCommand(a),
		newLockCommand(a), newCandidateCommand(a), newResourceCommand(a), newAuditCommand(a), newDataCommand(a),
		newImportCommand(a), newMigrateCommand(a), newBackupCommand(a), newRestoreCommand(a),
		newDoctorCommand(a), newExportCommand(a), newSealCommand(a),
		newWhoamiCommand(a),
		newToolCommand(a), newEngineCommand(a), newInsightCommand(a),
		newPolicyCommand(a), newAgentCommand(a), newHealthCommand(a), newBenchCommand(a),
		newVersionCommand(a),
		newRunShimCommand(), newRunSandboxedCommand(), newManCommand())
	return a.asRoot(root)
}

// root is the command that the program is: it may be called by the name of one of its groups.
func (a *app) root() *cobra.Command {
	if isNamedInfra(a.program) {
		return a.asRoot(newInfraCommand(a))
	}
	return newRootCommand(a)
}

// asRoot makes a command the first word of every command line.
func (a *app) asRoot(root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{suggestFlag(cmd, err)} })
	root.SetUsageFunc(showUsage)
	tidyHelp(root)
	markUsageErrors(root)
	a.addVersionFlag(root)
	a.complete(root)
	return root
}

// newGroup returns a command that does nothing but hold others.
func newGroup(use, short string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  suggestCommand,
		RunE:  func(*cobra.Command, []string) error { return usagef("a command is missing") },
		// A letter or two off.
		SuggestionsMinimumDistance: 2,
	}
}

// isCount reports whether an error is one of cobra's about how many arguments there are, which say
// nothing of what they are for.
func isCount(err error) bool {
	return strings.HasPrefix(err.Error(), "accepts ") || strings.HasPrefix(err.Error(), "requires ")
}

// markUsageErrors makes wrong arguments of cmd, and of the commands below it, usage errors.
func markUsageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			switch {
			case err == nil:
				return nil
			case isCount(err):
				return usagef("it is `%s`, and got %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"),
					counted(int64(len(args)), "argument"))
			}
			return usageError{err}
		}
	}
	for _, child := range cmd.Commands() {
		markUsageErrors(child)
	}
}
