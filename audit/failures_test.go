package audit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

func TestFailures(t *testing.T) {
	var kept together
	f := audit.NewFailures(&kept, time.Now)
	org := uuid.New()
	for range 10 {
		f.Note(org, audit.Actor{Address: "192.0.2.1", Request: uuid.NewString()}, fault.CredentialsWrong)
	}
	for range 300 {
		f.Note(org, audit.Actor{Address: "192.0.2.1"}, fault.TooManyFailures)
	}
	f.Note(org, audit.Actor{Address: "192.0.2.2", KeyID: "k1"}, fault.KeyExpired)
	f.Note(uuid.UUID{1}, audit.Actor{Address: "192.0.2.1"}, fault.CredentialsWrong)
	gone := func(id uuid.UUID) bool { return id == org }
	if err := f.Flush(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range kept.take() {
		if e.Action != audit.LoginFail || e.Org != org {
			t.Errorf("%+v", e)
		}
		got[e.Actor.Address+" "+e.Actor.KeyID] = string(e.Refused) + ": " + e.Note
	}
	want := map[string]string{
		"192.0.2.1 ":   "too_many_failures: 10 credentials_wrong, 300 too_many_failures",
		"192.0.2.2 k1": "key_expired: 1 key_expired",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v; want %v", got, want)
	}
	if err := f.Flush(t.Context(), everybody); err != nil || len(kept.take()) != 0 {
		t.Error("what is on record came again")
	}
}

// Strangers from everywhere, at all organizations, add a bounded number of entries a minute. None is forgotten while
// the log can't be written.
func TestFailuresAreBounded(t *testing.T) {
	var kept together
	f := audit.NewFailures(&kept, time.Now)
	org := uuid.New()
	kept.fail(errors.New("full"))
	for n := range 30_000 {
		f.Note(org, audit.Actor{Address: fmt.Sprintf("10.0.%d.%d", n/256, n%256)}, fault.CredentialsWrong)
		if n%10_000 == 0 {
			if err := f.Flush(t.Context(), everybody); err == nil {
				t.Fatal("a full disk is no error")
			}
		}
	}
	kept.fail(nil)
	if err := f.Flush(t.Context(), everybody); err != nil {
		t.Fatal(err)
	}
	events, sum := kept.take(), 0
	for _, e := range events {
		n := 0
		if _, err := fmt.Sscanf(e.Note, "%d credentials_wrong", &n); err != nil {
			t.Error(err)
		}
		sum += n
		if e.Actor.Address == "" && !strings.Contains(e.Note, "from other addresses") {
			t.Error(e.Note)
		}
	}
	if len(events) != 9 || sum != 30_000 {
		t.Errorf("%d entries of %d failures; want 9 of 30000", len(events), sum)
	}

	for range 10_000 {
		f.Note(uuid.New(), audit.Actor{}, fault.CredentialsWrong)
	}
	if err := f.Flush(t.Context(), everybody); err == nil || !strings.Contains(err.Error(), "5904 ") {
		t.Errorf("%v does not say how many failures are not counted", err)
	}
	if got := len(kept.take()); got != 4096 {
		t.Errorf("%d organizations", got)
	}
}
