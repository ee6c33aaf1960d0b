//go:build e2e

package test

import (
	"errors"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// addSettings writes settings into the section of the organization that acts. A running
// server would take them up only after a while.
func addSettings(w *world, ts *testscript.TestScript, args []string) error {
	if w.server.address != "" {
		return errors.New("it comes before serve")
	}
	path, head := ts.Getenv("HOLDFAST_AUTH_FILE"), "["+ts.Getenv("ORG")+"]\n"
	before, after, found := strings.Cut(ts.ReadFile(path), head)
	if !found {
		return errors.New("the organization has no section")
	}
	return os.WriteFile(path, []byte(before+head+strings.Join(args, "\n")+"\n"+after), 0o600)
}

// addKey adds a key for the organization that acts.
func addKey(w *world, ts *testscript.TestScript, args []string) error {
	if w.server.address != "" || len(args) == 0 {
		return errors.New("it comes before serve, and has a name and flags")
	}
	made, err := keyFrom(ts, append([]string{"key", "add", ts.Getenv("ORG"), "--json"}, args[1:]...)...)
	ts.Setenv(args[0], made.Key)
	return err
}
