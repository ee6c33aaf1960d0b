package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// timeResource is a resource of a real provider that needs no network.
const timeResource = "resource \"time_static\" \"t%[1]d\" {\n  rfc3339 = \"2026-01-02T03:04:05Z\"\n}\n"

// realPlans measures the engine's plans with a real provider, and OpenTofu's of the same configuration and state, in
// turns.
func realPlans(ctx context.Context, o options) error {
	if o.tofu == "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "holdfast-bench-engine")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	environ, err := prepared(ctx, o, dir)
	if err != nil {
		return err
	}
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	var theirs, ours []time.Duration
	var theirMemory, ourMemory int64
	for range o.runs {
		took, memory, err := process(ctx, dir, environ, o.tofu, "plan", "-input=false", "-detailed-exitcode")
		if err != nil {
			return err
		}
		theirs, theirMemory = append(theirs, took), max(theirMemory, memory)
		took, memory, err = process(ctx, dir, environ, binary, "engine", "plan", "--detailed-exitcode")
		if err != nil {
			return err
		}
		ours, ourMemory = append(ours, took), max(ourMemory, memory)
	}
	their, our := of(theirs), of(ours)
	what := fmt.Sprintf("plan of %d resources without changes, provider time", o.resources)
	row(what+": time", seconds(our), "OpenTofu's "+seconds(their), our < their)
	row(what+": peak memory", mebibytes(ourMemory), "OpenTofu's "+mebibytes(theirMemory), ourMemory < theirMemory)
	return nil
}

func of(all []time.Duration) time.Duration {
	next := 0
	d, _, _ := middle(len(all), func() (time.Duration, int64, error) { next++; return all[next-1], 0, nil })
	return d
}

// prepared makes the objects that both plan, with the engine, and has both ready to plan.
func prepared(ctx context.Context, o options, dir string) (environ []string, err error) {
	head := "terraform {\n  required_providers {\n    time = {\n      source = \"hashicorp/time\"\n    }\n  }\n}\n"
	rc := filepath.Join(dir, "cli.tfrc")
	settings := "provider_installation {\n  filesystem_mirror {\n    path = " + strconv.Quote(o.mirror) + "\n  }\n}\n"
	if err := errors.Join(configure(dir, head, timeResource, o.resources),
		os.WriteFile(rc, []byte(settings), 0o600)); err != nil {
		return nil, err
	}
	environ = []string{"TF_CLI_CONFIG_FILE=" + rc, "CHECKPOINT_DISABLE=1", "HOLDFAST_ENGINE_PROVIDERS=" + o.mirror}
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	for _, line := range [][]string{{binary, "engine", "init"},
		{binary, "engine", "apply", "--auto-approve", "--parallelism", strconv.Itoa(atOnce)},
		{o.tofu, "init", "-input=false"}} {
		if _, _, err := process(ctx, dir, environ, line[0], line[1:]...); err != nil {
			return nil, err
		}
	}
	return environ, nil
}
