package state

import (
	"testing"

	"github.com/holdfast/holdfast/fault"
)

func TestConditions(t *testing.T) {
	var (
		none    = Head{}
		gone    = Head{Version: version(3, 'x'), Deleted: true}
		present = Head{Version: version(3, 'x')}
		locked  = Head{Version: version(3, 'x'), Lock: lockOf("A", "ada")}
		freed   = Head{Version: version(3, 'x'), ReleasedID: "A"}

		any   = Condition{Is: &Contents{Any: true}}
		fresh = Condition{Not: &Contents{Any: true}}
		is    = func(d ...byte) Condition { return Condition{Is: contents(d...)} }
		not   = func(d ...byte) Condition { return Condition{Not: contents(d...)} }
		put   = func(content byte, id string, only Condition) Decide {
			return today().decideWrite(version(0, content), Write{LockID: id, If: only}, new(written))
		}
		release = func(content byte, only Condition) Decide {
			return today().decideWrite(version(0, content), Write{LockID: "A", Release: true, If: only}, new(written))
		}
		remove = func(id string, only Condition) Decide { return today().decideDelete(id, only) }
	)
	const failed = fault.ConditionFailed
	for _, test := range []struct {
		name   string
		head   Head
		decide Decide
		want   fault.Code
	}{
		{"a new state", none, put('y', "", fresh), ""},
		{"a new state in the place of a deleted one", gone, put('y', "", fresh), ""},
		{"a new state where one is", present, put('y', "", fresh), failed},
		{"a new state, replayed", present, put('x', "", fresh), ""},
		{"any", present, put('y', "", any), ""},
		{"any where none is", none, put('y', "", any), failed},
		{"any where one was", gone, put('y', "", any), failed},
		{"this one", present, put('y', "", is('x')), ""},
		{"one of several", present, put('y', "", is('a', 'x')), ""},
		{"another one", present, put('y', "", is('a', 'b')), failed},
		{"another one, replayed", present, put('x', "", is('a')), ""},
		{"none that can be", present, put('y', "", is()), failed},
		{"not this one", present, put('y', "", not('x')), failed},
		{"not another one", present, put('y', "", not('a')), ""},
		{"both", present, put('y', "", Condition{Is: contents('x'), Not: contents('x')}), failed},
		{"this one, by the holder", locked, put('y', "A", is('x')), ""},
		{"another one, by the holder", locked, put('y', "A", is('a')), failed},
		{"another one, by the holder, replayed", locked, put('x', "A", is('a')), ""},
		{"write and release, replayed", freed, release('x', is('a')), ""},
		{"the lock comes first", locked, put('y', "", is('a')), fault.LockHeld},
		{"a lock that is not held comes first", present, put('y', "B", is('a')), fault.LockNotHeld},
		{"delete this one", present, remove("", is('x')), ""},
		{"delete another one", present, remove("", is('a')), failed},
		{"delete another one, by the holder", locked, remove("A", is('a')), failed},
		{"delete this one, replayed", gone, remove("", is('x')), ""},
		{"delete any where none ever was", none, remove("", any), fault.StateNotFound},
	} {
		change, err := test.decide(test.head)
		if test.want == "" && err != nil || test.want != "" && (!fault.Is(err, test.want) || !change.Empty()) {
			t.Errorf("%s: %+v, %v; want %q", test.name, change, err, test.want)
		}
	}
}

// A write that is refused for its condition is not held for what guards find in it.
func TestConditionComesBeforeGuards(t *testing.T) {
	c := today()
	c.policy.Guards = GuardsHold
	next := counted('b', 6, 0)
	for want, only := range map[fault.Code]Condition{fault.ConditionFailed: {Is: contents('z')}, "": {Is: contents('a')}} {
		var out written
		_, err := c.decideWrite(next, Write{If: only}, &out)(Head{Version: counted('a', 5, 10)})
		if (out.held != nil) != (want == "") || want != "" && !fault.Is(err, want) {
			t.Errorf("held %v, %v; want %q", out.held, err, want)
		}
	}
}

func contents(of ...byte) *Contents {
	c := &Contents{}
	for _, content := range of {
		c.Digests = append(c.Digests, Digest{content})
	}
	return c
}
