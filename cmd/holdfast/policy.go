package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/insight/rules"
)

func newPolicyCommand(a *app) *cobra.Command {
	cmd := newGroup("policy", "Work on policies in Rego")
	cmd.AddCommand(newPolicyTestCommand(a), newPolicyPushCommand(a), newPolicyListCommand(a), newPolicyShowCommand(a),
		newPolicyRemoveCommand(a))
	return cmd
}

func newPolicyTestCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "test FOLDER",
		Short: "Run the tests of policies",
		Long: `Run the tests of the policies in a folder and in those below it: every rule whose name begins with test_
passes if it is true. What the policies may call is what they may call when they look at a plan: nothing
that reaches the network or the environment. The exit code is 1 where a test fails, or there is none.`,
		Example: `  holdfast policy test policies/`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.testPolicies(cmd.Context(), args[0]) },
	}
}

func (a *app) testPolicies(ctx context.Context, folder string) error {
	set, err := rules.Compile(os.DirFS(folder), rules.Limits{})
	if err != nil {
		return fmt.Errorf("the policies in %s: %w", folder, err)
	}
	tests, err := set.Test(ctx)
	if err != nil {
		return err
	}
	failed := 0
	for _, test := range tests {
		if test.Passed {
			fmt.Fprintf(a.stdout, "%s %s.%s\n", a.paint(green, "pass"), test.Package, test.Name)
			continue
		}
		failed++
		fmt.Fprintf(a.stdout, "%s %s.%s: %s (%s, line %d)\n", a.paint(red, "FAIL"), test.Package, test.Name, test.Reason,
			test.File, test.Line)
	}
	switch {
	case len(tests) == 0:
		return fmt.Errorf("there is no test in %s: no rule's name begins with test_", folder)
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, counted(int64(len(tests)), "test"))
	}
	fmt.Fprintf(a.stdout, "%s passed.\n", counted(int64(len(tests)), "test"))
	return nil
}
