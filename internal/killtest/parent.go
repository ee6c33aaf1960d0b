// Package killtest kills processes for the tests of what survives that. A test starts its own
// program again as a child, which works on a folder and tells of each step in a line; the test
// kills it with SIGKILL at a moment of its own choosing, and looks at what the child left.
package killtest

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

// seedVariable is in the environment of the child.
const seedVariable = "HOLDFAST_KILLTEST_SEED"

// Told is a line of what a child tells its parent.
type Told interface {
	// Outcome says whether something was acknowledged, or what is wrong with the child.
	Outcome() (acked bool, err error)
}

// Kill starts the child that works on the folder named in this variable of the environment,
// kills it after so many acknowledgements, and returns all it told.
func Kill[E Told](t testing.TB, variable, dir string, seed uint64, after int) []E {
	t.Helper()
	return kill(t, variable, dir, seed, func(_ E, acked int) (time.Duration, bool) { return 0, acked == after })
}

// enough says of a line, and of how many acknowledgements there were with it, whether the child is to be killed now,
// and how much later than that.
type enough[E Told] func(line E, acked int) (later time.Duration, kill bool)

func kill[E Told](t testing.TB, variable, dir string, seed uint64, when enough[E]) []E {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+dir, fmt.Sprintf("%s=%d", seedVariable, seed))
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
	events, err := listen(bufio.NewScanner(stdout), when, cmd.Process)
	_ = cmd.Wait() // the kill
	if cmd.ProcessState.Exited() || ctx.Err() != nil || err != nil {
		t.Fatalf("the child was to be killed, but after %d lines: %v, %v, %v\n%s", len(events), cmd.ProcessState,
			ctx.Err(), err, stderr.String())
	}
	return events
}

// listen reads the child's lines to the last, and kills it on the way.
func listen[E Told](lines *bufio.Scanner, when enough[E], process *os.Process) ([]E, error) {
	var events []E
	var failure error
	total := 0
	for lines.Scan() {
		var e E
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			failure = fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		acked, err := e.Outcome()
		if err != nil {
			failure = err
		}
		events = append(events, e)
		if acked {
			total++
		}
		later, now := when(e, total)
		if failure != nil {
			later, now = 0, true
		}
		if now {
			time.AfterFunc(later, func() { _ = process.Kill() }) // it may be gone already
		}
	}
	return events, failure
}
