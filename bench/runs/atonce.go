package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Each of the runs at once has so many resources and prints so many lines.
const (
	resourcesAtOnce = 20
	linesAtOnce     = 300
)

// atOnce starts so many runs of as many workspaces together, and counts what each should have left
// behind: how it ended, its log to the last line, its state to the last value.
func (s *server) atOnce(ctx context.Context, count int) error {
	for i := range count {
		folder := filepath.Join(s.dir, "atonce", fmt.Sprint(i))
		if err := writeConfiguration(folder, configurationAtOnce(i)); err != nil {
			return err
		}
		for _, args := range [][]string{{"workspace", "create", nameAtOnce(i)}, {"config", "push", nameAtOnce(i), folder}} {
			if err := s.holdfast(ctx, args...); err != nil {
				return err
			}
		}
	}
	begin, faults, all := time.Now(), make([]error, count), sync.WaitGroup{}
	for i := range count {
		all.Go(func() { faults[i] = s.oneOfMany(ctx, i) })
	}
	all.Wait()
	lost := 0
	for _, err := range faults {
		if err != nil {
			lost++
		}
	}
	fmt.Printf("\n%d runs of %d resources and %d lines each at once: %.2f s, lost %d\n", count, resourcesAtOnce,
		linesAtOnce, time.Since(begin).Seconds(), lost)
	return errors.Join(faults...)
}

func nameAtOnce(i int) string { return fmt.Sprintf("bench/atonce%d", i) }

// line is what a run prints, each once.
func line(i, n int) string { return fmt.Sprintf("run %d says %d of %d", i, n, linesAtOnce) }

func configurationAtOnce(i int) string {
	return configuration(resourcesAtOnce, i, false) + fmt.Sprintf(`
resource "terraform_data" "said" {
  provisioner "local-exec" {
    command = "i=1; while [ $i -le %d ]; do echo run %d says $i of %d; i=$((i+1)); done"
  }
}
`, linesAtOnce, i, linesAtOnce)
}

// oneOfMany applies, and says what is missing of what that should have made.
func (s *server) oneOfMany(ctx context.Context, i int) error {
	said, err := s.command(ctx, s.binary, "run", "apply", nameAtOnce(i), "--auto-approve", "--json").Output()
	if err != nil {
		return fmt.Errorf("run %d: %w\n%s", i, err, lastLines(string(said)))
	}
	var run struct {
		ID, Status string
		After      int `json:"version_after"`
	}
	if err := json.Unmarshal(said, &run); err != nil {
		return err
	}
	if run.Status != "succeeded" || run.After == 0 {
		return fmt.Errorf("run %d is %s with version %d", i, run.Status, run.After)
	}
	log, err := s.command(ctx, s.binary, "run", "log", run.ID, "--stage", "apply").Output()
	if err != nil {
		return fmt.Errorf("the log of run %d: %w", i, err)
	}
	return errors.Join(wholeLog(i, string(log)), s.exactState(ctx, i))
}

// wholeLog reports what a log lacks, or has twice or in another order.
func wholeLog(i int, log string) error {
	rest := log
	for n := range linesAtOnce {
		_, after, found := strings.Cut(rest, line(i, n+1)+"\n")
		if !found {
			return fmt.Errorf("the log of run %d lacks %q where it should be", i, line(i, n+1))
		}
		rest = after
	}
	if n := strings.Count(log, fmt.Sprintf("run %d says ", i)); n != linesAtOnce+1 { // the command itself is shown too
		return fmt.Errorf("the log of run %d has %d lines, not %d", i, n, linesAtOnce+1)
	}
	if !strings.Contains(rest, fmt.Sprintf("Resources: %d added", resourcesAtOnce+1)) {
		return fmt.Errorf("the log of run %d ends with %s", i, lastLines(rest))
	}
	return nil
}

// exactState reports where a state is another one than the configuration's.
func (s *server) exactState(ctx context.Context, i int) error {
	path := filepath.Join(s.dir, "atonce", fmt.Sprintf("%d.tfstate", i))
	if err := s.holdfast(ctx, "state", "pull", nameAtOnce(i), "--output", path); err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var state struct {
		Resources []struct {
			Name      string
			Instances []struct {
				Attributes struct{ Input struct{ Value string } }
			}
		}
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return err
	}
	found := 0
	for _, r := range state.Resources {
		for n, instance := range r.Instances {
			if r.Name == "r" && instance.Attributes.Input.Value != fmt.Sprintf("%d-%d", i, n) {
				return fmt.Errorf("the state of run %d has %q at %d", i, instance.Attributes.Input.Value, n)
			}
			found++
		}
	}
	if found != resourcesAtOnce+1 {
		return fmt.Errorf("the state of run %d has %d resources", i, found)
	}
	return nil
}
