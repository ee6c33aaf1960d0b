package storagetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/inventory"
)

// inventoryTorture kills a child with SIGKILL, again and again over the same directory,
// and checks each time what the next process finds.
type inventoryTorture struct {
	open   func(t *testing.T, dir string) inventory.Store
	dir    string
	random *rand.Rand
	ledger *uploadLedger
}

// checkInventoryKill runs rounds until thousands of instances were acknowledged, or for
// as long as it may. HOLDFAST_TORTURE=1 makes that two minutes, and
// HOLDFAST_TORTURE_SEED=<number> makes the same choices as the run that logged the number.
func checkInventoryKill(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	seed := tortureSeed(t)
	tt := &inventoryTorture{open: open, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), ledger: newUploadLedger()}
	long := os.Getenv("HOLDFAST_TORTURE") == "1"
	budget := 8 * time.Second
	if long {
		budget = 2 * time.Minute
	}
	start, rounds := time.Now(), 0
	for !t.Failed() && time.Since(start) < budget && (long || rounds < 8 || tt.ledger.instances < 5000) {
		tt.round(t)
		rounds++
	}
	store := tt.open(t, tt.dir)
	tt.ledger.verify(t, store)
	closeInventory(t, store)
	t.Logf("%d rounds, %d acknowledged instances in %d batches, %v", rounds, tt.ledger.instances, tt.ledger.batches, time.Since(start).Round(time.Millisecond))
	if tt.ledger.instances < 500 {
		t.Errorf("only %d instances were acknowledged in all: that proves little", tt.ledger.instances)
	}
}

// round runs one child to its end, verifies what it left, and sends again what had no
// answer.
func (tt *inventoryTorture) round(t *testing.T) {
	t.Helper()
	tt.ledger.enter(tt.kill(t, 1+tt.random.IntN(80)))
	store := tt.open(t, tt.dir)
	tt.ledger.verify(t, store)
	tt.ledger.retry(t, store)
	closeInventory(t, store)
}

// kill starts a child, kills it after so many acknowledgements, and returns all it told.
func (tt *inventoryTorture) kill(t *testing.T, after int) []uploadEvent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), inventoryDir+"="+tt.dir, fmt.Sprintf("%s=%d", childSeed, tt.random.Uint64()))
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
	events, err := listenUploads(bufio.NewScanner(stdout), after, cmd.Process)
	_ = cmd.Wait() // the kill
	if cmd.ProcessState.Exited() || ctx.Err() != nil || err != nil {
		t.Fatalf("the child was to be killed after %d acknowledgements, but: %v, %v, %v\n%s", after, cmd.ProcessState, ctx.Err(), err, stderr.String())
	}
	return events
}

// listenUploads reads the child's lines to the last, and kills it on the way.
func listenUploads(lines *bufio.Scanner, after int, process *os.Process) ([]uploadEvent, error) {
	var events []uploadEvent
	var failure error
	for lines.Scan() {
		var e uploadEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			failure = fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if e.Phase == failed {
			failure = fmt.Errorf("upload of %+v: %s", e.Parcel, e.Reason)
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
