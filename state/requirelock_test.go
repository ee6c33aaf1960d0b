package state

import (
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// What else makes another version the newest, or takes the state away, needs the lock too. To
// say it again does not.
func TestRequireLockOfAllThatChangesTheState(t *testing.T) {
	c := today()
	c.policy.RequireLock = true
	free := Head{Version: version(3, 'x')}
	done := Head{Version: version(3, 'x'), Deleted: true}
	rolled := Head{Version: version(4, 'y')}
	rolled.Version.Origin.Version = 1
	locked := Head{Version: version(3, 'x'), Lock: lockOf("A", "ada")}
	remove := func(id string) Decide { return c.decideDelete(id, Condition{}) }
	rollback := func(id string) Decide {
		return c.decideRepeat(repeat{next: Version{Origin: Origin{Version: 1}}, base: 3, lockID: id}, new(bool))
	}
	for _, test := range []struct {
		name   string
		head   Head
		decide Decide
		want   fault.Code
	}{
		{"delete", free, remove(""), fault.LockRequired},
		{"delete under the lock", locked, remove("A"), ""},
		{"delete, replayed", done, remove(""), ""},
		{"delete of what never was", Head{}, remove(""), fault.StateNotFound},
		{"rollback", free, rollback(""), fault.LockRequired},
		{"rollback under the lock", locked, rollback("A"), ""},
		{"rollback under another's", locked, rollback(""), fault.LockHeld},
		{"rollback, replayed", rolled, rollback(""), ""},
	} {
		if _, err := test.decide(test.head); test.want == "" && err != nil || test.want != "" && !fault.Is(err, test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
}
