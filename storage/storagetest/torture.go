package storagetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
)

// torture kills a child with SIGKILL, again and again over the same directory, and checks
// each time what the next process finds.
type torture struct {
	open   func(t *testing.T, dir string) state.Store
	dir    string
	random *rand.Rand
	ledger *ledger
}

// checkKill runs rounds until it has seen thousands of acknowledged writes, or for as
// long as it may. HOLDFAST_TORTURE=1 makes that two minutes, and
// HOLDFAST_TORTURE_SEED=<number> makes the same choices as the run that logged the number.
func checkKill(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	seed := tortureSeed(t)
	tt := &torture{open: open, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), ledger: newLedger()}
	long := os.Getenv("HOLDFAST_TORTURE") == "1"
	budget := 10 * time.Second
	if long {
		budget = 2 * time.Minute
	}
	start, rounds := time.Now(), 0
	for !t.Failed() && time.Since(start) < budget && (long || tt.ledger.writes < 3000) {
		tt.round(t)
		rounds++
	}
	if t.Failed() {
		return
	}
	store := tt.reopen(t)
	tt.ledger.verifyAll(t, store)
	if err := store.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	t.Logf("%d rounds, %d acknowledged writes, %v", rounds, tt.ledger.writes, time.Since(start).Round(time.Millisecond))
	if tt.ledger.writes < 100 {
		t.Errorf("only %d writes were acknowledged in all: that proves little", tt.ledger.writes)
	}
}

func tortureSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	if text := os.Getenv("HOLDFAST_TORTURE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("HOLDFAST_TORTURE_SEED: %v", err)
		}
	}
	t.Logf("HOLDFAST_TORTURE_SEED=%d", seed)
	return seed
}

// round runs one child to its end and verifies what it left.
func (tt *torture) round(t *testing.T) {
	t.Helper()
	events := tt.kill(t, 1+tt.random.IntN(700))
	store := tt.reopen(t)
	for i, ref := range tortured() {
		tt.ledger.states[i].verify(t, store, ref, callsOf(events, i))
	}
	for _, e := range events {
		if e.Phase == acked && e.writes() {
			tt.ledger.writes++
		}
	}
	if err := store.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func (tt *torture) reopen(t *testing.T) state.Store {
	t.Helper()
	store := tt.open(t, tt.dir)
	if err := store.Ready(t.Context()); err != nil {
		t.Fatalf("the reopened store is not ready: %v", err)
	}
	return store
}

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
