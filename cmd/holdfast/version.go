package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X main.version=…) and never changes afterwards.
var version = "dev"

func newVersionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  holdfast version\n  holdfast version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(map[string]string{"version": version, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprint(a.stdout, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// addVersionFlag gives a command --version, which nothing on its command line keeps from being answered.
// Cobra's own prints what a template makes, and with those the linker keeps all methods (internal/markup).
func (a *app) addVersionFlag(cmd *cobra.Command) {
	asked := cmd.Flags().BoolP("version", "v", false, "version for "+cmd.DisplayName())
	check, run := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *asked {
			return nil
		}
		return check(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *asked {
			_, err := fmt.Fprint(a.stdout, versionLine())
			return err
		}
		return run(cmd, args)
	}
}

// versionLine is what `holdfast version` and `holdfast --version` print.
func versionLine() string {
	return fmt.Sprintf("holdfast %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
