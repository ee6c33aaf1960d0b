package changes

import (
	"slices"
	"strings"
	"testing"
)

// basis is a plan of three changes, and what the tests change in it.
func basis() (changes []string, outputs string) {
	return []string{
		strings.Replace(update("t.a", `{"x":1,"s":"old"}`, `{"x":2,"s":"new","list":[1,2]}`, `{"s":true}`),
			`"after_unknown":{}`, `"after_unknown":{"id":true}`, 1),
		one("t.b", `"create"`, `null`, `{"y":{"z":"\u0061"}}`, `{}`),
		strings.Replace(one("t.c", `"no-op"`, `{}`, `{}`, `{}`), `"mode"`, `"previous_address":"t.d","mode"`, 1),
	}, `"o":{"actions":["update"],"before":1,"after":2,"after_unknown":false,"before_sensitive":false,"after_sensitive":false}`
}

func digestOf(t *testing.T, changes []string, outputs, more string) [32]byte {
	t.Helper()
	return sample{changes: strings.Join(changes, ","), outputs: outputs, more: more}.parse(t, Options{}).Digest(keyed)
}

func TestDigestIsTheSame(t *testing.T) {
	changes, outputs := basis()
	want := digestOf(t, changes, outputs, "")
	for name, edit := range map[string]func(){
		"in another order":   func() { slices.Reverse(changes) },
		"with a timestamp":   func() {},
		"with another no-op": func() { changes = append(changes, one("t.z", `"no-op"`, `{"a":1}`, `{"a":1}`, `{}`)) },
		"with members turned": func() {
			changes[0] = strings.Replace(changes[0], `"x":2,"s":"new"`, `"s":"new","x":2`,
				1)
		},
		"with another escape":   func() { changes[1] = strings.Replace(changes[1], `\u0061`, `a`, 1) },
		"with white space":      func() { changes[1] = strings.Replace(changes[1], `{"y"`, "{ \"y\"", 1) },
		"with an absent before": func() { changes[1] = strings.Replace(changes[1], `"before":null,`, ``, 1) },
		"with a reason": func() {
			changes[0] = strings.Replace(changes[0], `"mode"`, `"action_reason":"x","mode"`,
				1)
		},
		"with an unheard-of name": func() { changes[0] = strings.Replace(changes[0], `"mode"`, `"new":1,"mode"`, 1) },
	} {
		changes, outputs = basis()
		edit()
		if got := digestOf(t, changes, outputs, `,"timestamp":"2026-01-02T03:04:05Z"`); got != want {
			t.Errorf("%s it is another", name)
		}
	}
}

func TestDigestIsAnother(t *testing.T) {
	changes, outputs := basis()
	seen := map[[32]byte]string{digestOf(t, changes, outputs, ""): "the first"}
	for _, edit := range []struct {
		i        int
		old, new string
	}{
		{0, `"x":2`, `"x":3`}, {0, `"s":"new"`, `"s":"nev"`}, {0, `"s":"old"`, `"s":"odd"`}, {0, `"x":2`, `"x":"2"`},
		{0, `[1,2]`, `[2,1]`}, {0, `[1,2]`, `[[1,2]]`}, {0, `[1,2]`, `[12]`},
		{0, `"id":true`, `"id2":true`}, {0, `"update"`, `"delete","create"`}, {0, `"update"`, `"create","delete"`},
		{0, `t.a`, `t.a2`}, {0, `"mode"`, `"deposed":"1","mode"`},
		{0, `"provider_name":"p"`, `"provider_name":"q"`}, {0, `"before_sensitive":{"s":true}`, `"before_sensitive":{}`},
		{1, `{"z":`, `{"zz":`}, {1, `{"actions"`, `{"importing":{"id":"i"},"actions"`}, {1, `{"y":{"z":"\u0061"}}`, `null`},
		{2, `t.d`, `t.e`}, {3, `"after":2`, `"after":3`}, {3, `"o"`, `"p"`},
	} {
		changes, outputs = basis()
		all := append(changes, outputs)
		if !strings.Contains(all[edit.i], edit.old) {
			t.Fatalf("%s is not in %s", edit.old, all[edit.i])
		}
		all[edit.i] = strings.Replace(all[edit.i], edit.old, edit.new, 1)
		got := digestOf(t, all[:3], all[3], "")
		if other, is := seen[got]; is {
			t.Errorf("with %s it is that of %s", edit.new, other)
		}
		seen[got] = edit.new
	}
}

// TestDigestOfDrift: a plan that only refreshes does what drifted, another plan does not.
func TestDigestOfDrift(t *testing.T) {
	with, without := sample{drift: update("t.a", `{"x":1}`, `{"x":2}`, `{}`)}, sample{}
	if with.parse(t, Options{}).Digest(keyed) != without.parse(t, Options{}).Digest(keyed) {
		t.Error("drift counts")
	}
	refresh := Options{RefreshOnly: true}
	if with.parse(t, refresh).Digest(keyed) == without.parse(t, refresh).Digest(keyed) {
		t.Error("the drift of a plan that only refreshes does not count")
	}
	if !with.parse(t, refresh).Any() || with.parse(t, Options{}).Any() || without.parse(t, refresh).Any() {
		t.Error("what an apply would do is not said right")
	}
}

func TestSubset(t *testing.T) {
	unknown := func(change, unknown string) string {
		return strings.Replace(change, `"after_unknown":{}`, `"after_unknown":`+unknown, 1)
	}
	create := func(after, unknowns string) string {
		return unknown(one("t.a", `"create"`, `null`, after, `{}`), unknowns)
	}
	approved := strings.Join([]string{
		create(`{"x":1,"list":[{"y":1},{}]}`, `{"id":true,"list":[{},{"y":true}]}`),
		update("t.b", `{"x":1}`, `{"x":2}`, `{}`), one("t.c", `"delete"`, `{"x":1}`, `null`, `{}`),
	}, ",")
	for name, test := range map[string]struct {
		changes string
		subset  bool
	}{
		"nothing":          {``, true},
		"all":              {approved, true},
		"a part":           {update("t.b", `{"x":1}`, `{"x":2}`, `{}`), true},
		"what was unknown": {create(`{"x":1,"list":[{"y":1},{"y":[7]}],"id":"i"}`, `{}`), true},
		"other than known": {create(`{"x":2,"list":[{"y":1},{}]}`, `{"id":true,"list":[{},{"y":true}]}`), false},
		"now unknown": {create(`{"list":[{"y":1},{}]}`, `{"x":true,"id":true,"list":[{},{"y":true}]}`),
			false},
		"all unknown": {create(`null`, `true`), false},
		"one more attribute": {create(`{"x":1,"list":[{"y":1},{}],"z":0}`, `{"id":true,"list":[{},{"y":true}]}`),
			false},
		"one attribute less": {create(`{"list":[{"y":1},{}]}`, `{"id":true,"list":[{},{"y":true}]}`), false},
		"one more element": {create(`{"x":1,"list":[{"y":1},{},{}]}`, `{"id":true,"list":[{},{"y":true},{}]}`),
			false},
		"a text for a number": {create(`{"x":"1","list":[{"y":1},{}]}`, `{"id":true,"list":[{},{"y":true}]}`),
			false},
		"an object for a list":    {create(`{"x":1,"list":{"0":{"y":1},"1":{}}}`, `{"id":true}`), false},
		"another resource":        {update("t.z", `{"x":1}`, `{"x":2}`, `{}`), false},
		"another action":          {one("t.b", `"delete","create"`, `{"x":1}`, `{"x":2}`, `{}`), false},
		"another before":          {update("t.b", `{"x":0}`, `{"x":2}`, `{}`), false},
		"the deletion of another": {one("t.c", `"delete"`, `{"x":2}`, `null`, `{}`), false},
		"the deletion of a deposed": {strings.Replace(one("t.c", `"delete"`, `{"x":1}`, `null`, `{}`), `"mode"`,
			`"deposed":"1","mode"`, 1), false},
		"an import": {strings.Replace(update("t.b", `{"x":1}`, `{"x":2}`, `{}`), `{"actions"`,
			`{"importing":{"id":"i"},"actions"`, 1), false},
		"a move from somewhere": {strings.Replace(update("t.b", `{"x":1}`, `{"x":2}`, `{}`), `"mode"`,
			`"previous_address":"t.y","mode"`, 1), false},
		"the same by another provider": {strings.Replace(update("t.b", `{"x":1}`, `{"x":2}`, `{}`), `"provider_name":"p"`,
			`"provider_name":"q"`, 1), false},
	} {
		ok, why := sample{changes: test.changes}.parse(t, Options{}).SubsetOf(sample{changes: approved}.parse(t, Options{}))
		if ok != test.subset || ok != (why == "") {
			t.Errorf("%s: %v, %q", name, ok, why)
		}
	}
}
