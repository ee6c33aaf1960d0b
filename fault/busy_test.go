package fault_test

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// Whoever is told that something is busy is told when to try again.
func TestBusySaysWhenToTryAgain(t *testing.T) {
	for _, one := range []*fault.Error{fault.New(fault.Busy, "x"), fault.Wrap(errors.New("y"), fault.Busy, "x")} {
		if one.RetryAfter <= 0 {
			t.Errorf("%v says nothing", one)
		}
	}
	if one := fault.New(fault.StateNotFound, "x"); one.RetryAfter != 0 || one.Err != nil {
		t.Errorf("%+v", one)
	}
}
