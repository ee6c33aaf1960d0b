//go:build e2e

package test

import (
	"fmt"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// block is the backend block that `holdfast init` prints.
const block = `terraform {
  backend "http" {
    address        = %[1]q
    lock_address   = %[1]q
    unlock_address = %[1]q
    username       = %[2]q
  }
}
`

func backend(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	text := fmt.Sprintf(block, ts.Getenv("SERVER")+args[0], ts.Getenv("ORG"))
	return os.WriteFile(ts.MkAbs("backend.tf"), []byte(text), 0o600)
}

func expand(_ *world, ts *testscript.TestScript, args []string) error {
	for _, file := range args {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		if err := os.WriteFile(ts.MkAbs(file), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return wantArgs(args, 1, 9)
}

// holdLimit bounds how long a provisioner is held, should a script forget it.
const holdLimit = 120 * time.Second

// hold is a program for provisioners: it stops an apply in its middle. `hold web` makes
// web.holding, and goes on when there is web.released.
func hold() {
	name := os.Args[1]
	if err := os.WriteFile(name+".holding", nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for deadline := time.Now().Add(holdLimit); time.Now().Before(deadline); time.Sleep(awaitInterval) {
		if _, err := os.Stat(name + ".released"); err == nil {
			return
		}
	}
	fmt.Fprintf(os.Stderr, "%s was not released within %s\n", name, holdLimit)
	os.Exit(1)
}

func release(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	return os.WriteFile(ts.MkAbs(args[0]+".released"), nil, 0o600)
}
