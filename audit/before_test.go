package audit_test

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// Without its entry a change is not made; with it and not made, there is a second entry that says why.
func TestBefore(t *testing.T) {
	var kept together
	made := 0
	change := func() error { made++; return nil }
	kept.fail(errors.New("full"))
	if err := audit.Before(t.Context(), &kept, audit.Event{Action: audit.PoolCreate}, change); err == nil || made > 0 {
		t.Errorf("%v, and it was made %d times", err, made)
	}
	kept.fail(nil)
	if err := audit.Before(t.Context(), &kept, audit.Event{Action: audit.PoolCreate}, change); err != nil || made != 1 {
		t.Errorf("%v, and it was made %d times", err, made)
	}
	if got := kept.take(); len(got) != 1 || got[0].Refused != "" {
		t.Errorf("%+v", got)
	}
	refused := fault.New(fault.PoolNotFound, "no")
	err := audit.Before(t.Context(), &kept, audit.Event{Action: audit.PoolRemove}, func() error { return refused })
	if got := kept.take(); !errors.Is(err, refused) || len(got) != 2 || got[1].Refused != fault.PoolNotFound {
		t.Errorf("%v, %+v", err, got)
	}
}
