//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

type organization struct{ ID, Key string }

// addOrganization makes an organization with the commands that an operator has.
func addOrganization(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	name := args[0]
	var made organization
	var err error
	if _, missing := os.Stat(ts.Getenv("HOLDFAST_AUTH_FILE")); missing != nil {
		made, err = keyFrom(ts, "init", "--org-name", name, "--json")
	} else if err = ts.Exec("holdfast", "org", "add", name); err == nil {
		made, err = keyFrom(ts, "key", "add", strings.TrimSpace(ts.ReadFile("stdout")), "--json")
	}
	if err != nil {
		return err
	}
	w.organizations[name] = made
	return actAs(w, ts, args)
}

// keyFrom runs a holdfast command that prints a new key as JSON.
func keyFrom(ts *testscript.TestScript, args ...string) (organization, error) {
	if err := ts.Exec("holdfast", args...); err != nil {
		return organization{}, err
	}
	var made struct{ Organization, Key string }
	err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &made)
	return organization{made.Organization, made.Key}, err
}

// actAs makes the clients, and http, use an organization's key from now on.
func actAs(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	o, ok := w.organizations[args[0]]
	if !ok {
		return fmt.Errorf("there is no organization %s", args[0])
	}
	ts.Setenv("ORG", o.ID)
	ts.Setenv("KEY", o.Key)
	ts.Setenv("HOLDFAST_KEY", o.Key)
	ts.Setenv("TF_HTTP_PASSWORD", o.Key)
	return nil
}
