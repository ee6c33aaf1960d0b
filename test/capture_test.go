//go:build e2e

package test

import (
	"fmt"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// capture keeps what the pattern's group matches in the last command's output.
func capture(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return err
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	if err != nil {
		return err
	}
	match := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(match) != 2 {
		return fmt.Errorf("%s matches nothing in\n%s", pattern, ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], match[1])
	return nil
}
