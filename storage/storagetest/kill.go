package storagetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// kill starts a child, kills it after so many acknowledgements, and returns all it told.
func (tt *torture) kill(t *testing.T, after int) []event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+tt.dir, fmt.Sprintf("%s=%d", childSeed, tt.random.Uint64()))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	// Held open: the child dies when this process does.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	events, err := listen(bufio.NewScanner(stdout), after, cmd.Process)
	_ = cmd.Wait() // the kill
	if cmd.ProcessState.Exited() || ctx.Err() != nil || err != nil {
		t.Fatalf("the child was to be killed after %d acknowledgements, but: %v, %v, %v\n%s", after, cmd.ProcessState, ctx.Err(), err, stderr.String())
	}
	return events
}

// listen reads the child's lines to the last, and kills it on the way.
func listen(lines *bufio.Scanner, after int, process *os.Process) ([]event, error) {
	var events []event
	var failure error
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			failure = fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if e.Phase == failed {
			failure = fmt.Errorf("%s of state %d: %s", e.Kind, e.State, e.Reason)
		}
		events = append(events, e)
		if e.Phase == acked {
			after--
		}
		if after == 0 || failure != nil {
			_ = process.Kill() // it may be gone already
		}
	}
	return events, failure
}
