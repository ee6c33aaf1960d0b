package killtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Phase says how far a call of the child had come when it told of it.
type Phase string

// The phases of a call. One without an end was under way when the child died.
const (
	Begun   Phase = "begun"
	Acked   Phase = "acked"
	Refused Phase = "refused" // the store said no, as it may: nothing may have happened
	Failed  Phase = "failed"  // the store gave up on a call: the test fails
)

// Tortures says whether this is `make torture`, which takes the time that the usual run of
// the tests does not have: every number that was lowered for that run is whole there.
func Tortures() bool { return os.Getenv("HOLDFAST_TORTURE") == "1" }

// Seed returns the number from which a test makes its choices, and logs it. That of
// HOLDFAST_TORTURE_SEED goes before a new one: it repeats the run that logged it.
func Seed(t *testing.T) uint64 {
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
