package document

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changed is what the diff of an attribute l says, a line for each change.
func changed(t *testing.T, before, after, marks string) []string {
	t.Helper()
	with := func(value string) []byte {
		return one(fmt.Sprintf(`{"attributes":{"l":%s},"sensitive_attributes":[%s]}`, value, marks))
	}
	a, b := parse(t, with(before)), parse(t, with(after))
	all := []string{}
	for _, r := range Compare(a, b, Options{}).Resources {
		for _, c := range r.Attributes {
			all = append(all, fmt.Sprintf("%s: %s -> %s", c.Path, orDash(c.Before), orDash(c.After)))
		}
	}
	applied, err := Apply(a, Compare(a, b, Options{Reveal: true}))
	if err != nil || !Compare(applied, b, Options{}).Empty() {
		t.Errorf("%s, %s: the diff makes %s of it, %v", before, after, applied.Instances[0].Attributes, err)
	}
	return all
}

func orDash(raw json.RawMessage) string {
	if raw == nil {
		return "-"
	}
	return string(raw)
}

func TestElementsOfLists(t *testing.T) {
	const secondX = `[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":1,"type":"number"}},{"type":"get_attr","value":"x"}]`
	for _, tt := range []struct {
		name, a, b, marks string
		want              []string
	}{
		{"the first goes", `["a","b","c"]`, `["b","c"]`, "", []string{`l[0]: "a" -> -`}},
		{"one comes first", `["b","c"]`, `["a","b","c"]`, "", []string{`l[0]: - -> "a"`}},
		{"one goes and one changes", `[1,2,3,4]`, `[1,3,5]`, "", []string{`l[1]: 2 -> -`, `l[2]: 4 -> 5`}},
		{"all differ", `["a","b"]`, `["c","d"]`, "", []string{`l[0]: "a" -> "c"`, `l[1]: "b" -> "d"`}},
		{"two change places", `["a","b"]`, `["b","a"]`, "", []string{`l[0]: "a" -> -`, `l[1]: - -> "a"`}},
		{"from nothing", `[]`, `[1]`, "", []string{`l[0]: - -> 1`}},
		{"alike ones go", `[1,1,1]`, `[1]`, "", []string{`l[1]: 1 -> -`, `l[2]: 1 -> -`}},
		{"by name", `[{"name":"a","p":1},{"name":"b","p":2}]`, `[{"name":"b","p":3}]`, "",
			[]string{`l[0].p: 2 -> 3`, `l[0]: {"name":"a","p":1} -> -`}},
		{"by Sid", `[{"Sid":"A"},{"Sid":"B","e":["x","y"]}]`, `[{"Sid":"B","e":["y"]}]`, "",
			[]string{`l[0].e[0]: "x" -> -`, `l[0]: {"Sid":"A"} -> -`}},
		{"a name that comes twice is none", `[{"name":"a","p":1},{"name":"a","p":2}]`, `[{"name":"a","p":2}]`, "",
			[]string{`l[0]: {"name":"a","p":1} -> -`}},
		{"one with another name", `[{"name":"a","p":1}]`, `[{"name":"b","p":1}]`, "", []string{`l[0].name: "a" -> "b"`}},
		{"written otherwise", `[1,{"a":1,"b":2}]`, `[1.0,{"b":2,"a":1}]`, "", []string{}},
		{"a hidden one goes", `[{"n":1,"x":"s1"},{"n":2,"x":"s2"}]`, `[{"n":2,"x":"s2"}]`, secondX,
			[]string{`l: "(sensitive value)" -> "(sensitive value)"`}},
		{"behind one that goes", `[{"n":0},{"n":1,"x":"s1"},{"n":2}]`, `[{"n":0},{"n":1,"x":"s2"}]`, secondX,
			[]string{`l[1].x: "(sensitive value)" -> "(sensitive value)"`, `l[2]: {"n":2} -> -`}},
	} {
		have := changed(t, tt.a, tt.b, tt.marks)
		slices.Sort(have)
		if diff := cmp.Diff(tt.want, have); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// Vulnerability: aligning lists tells which hidden value is equal to one that is shown, or moves
// one to a place that nothing hides.
// Scenario: the marked element moves, with the mark, with an unmarked one in the way that is equal.
// Check: the value is shown on no side.
func TestMovedElementsStayHidden(t *testing.T) {
	mark := func(i int) string {
		return fmt.Sprintf(`[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":%d,"type":"number"}}]`, i)
	}
	for _, tt := range []struct{ a, b, marksA, marksB string }{
		{`["x","hunter2"]`, `["hunter2"]`, mark(1), mark(0)},
		{`["hunter2","x"]`, `["x","hunter2"]`, mark(0), mark(1)},
		{`["x","y","hunter2"]`, `["y","hunter2","hunter3"]`, mark(2), mark(1) + "," + mark(2)},
	} {
		a := parse(t, one(fmt.Sprintf(`{"attributes":{"l":%s},"sensitive_attributes":[%s]}`, tt.a, tt.marksA)))
		b := parse(t, one(fmt.Sprintf(`{"attributes":{"l":%s},"sensitive_attributes":[%s]}`, tt.b, tt.marksB)))
		for _, d := range []*Diff{Compare(a, b, Options{}), Compare(b, a, Options{})} {
			if raw, err := json.Marshal(d); err != nil || strings.Contains(string(raw), "hunter") || len(d.Resources) != 1 {
				t.Errorf("%s, %s: %s, %v", tt.a, tt.b, raw, err)
			}
		}
	}
}

// Vulnerability: how two lists are aligned tells which of two hidden values is the larger one, so that
// who may write a list can search for the value.
// Scenario: there are several ways to align two lists; what is hidden in them changes places.
// Check: what differs is told in the same words.
func TestAligningIsBlindToHiddenOrder(t *testing.T) {
	const first = `[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":0,"type":"number"}},{"type":"get_attr","value":"x"}]`
	list := func(secret, rest string) string { return fmt.Sprintf(`[{"x":%q},%s]`, secret, rest) }
	for _, rest := range [][2]string{{`"a","b"`, `"b","a"`}, {`"b","a"`, `"a","b"`}, {`1,2,3`, `3,1,2`}} {
		x := changed(t, list("s1", rest[0]), list("s2", rest[1]), first)
		y := changed(t, list("s2", rest[0]), list("s1", rest[1]), first)
		if diff := cmp.Diff(x, y); diff != "" {
			t.Errorf("%s: %s", rest, diff)
		}
	}
}

// hostileLists are pairs of long lists that take long to align.
func hostileLists(n int) map[string][2][]uint64 {
	list := func(of func(i int) uint64) []uint64 {
		all := make([]uint64, n)
		for i := range all {
			all[i] = of(i)
		}
		return all
	}
	seed := uint64(1)
	bit := func(int) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 63
	}
	return map[string][2][]uint64{
		"nothing in common": {list(func(i int) uint64 { return uint64(i) }),
			list(func(i int) uint64 { return uint64(n + i) })},
		"backwards": {list(func(i int) uint64 { return uint64(i) }),
			list(func(i int) uint64 { return uint64(n - i) })},
		"of two values": {list(bit), list(bit)},
		"shifted by half": {list(func(i int) uint64 { return uint64(i) }),
			list(func(i int) uint64 { return uint64((i + n/2) % n) })},
		"every other": {list(func(i int) uint64 { return uint64(i) }),
			list(func(i int) uint64 { return uint64(i / 2 * 2) })},
	}
}

// Two lists take no more steps than in proportion to what they hold, however they differ.
func TestAligningIsBounded(t *testing.T) {
	const n = 100_000
	for name, lists := range hostileLists(n) {
		e := effort{left: maxEffort}
		matches := align(lists[0], lists[1], &e, nil)
		if steps := maxEffort - e.left; steps > 2*n*(2*maxEdits+1) {
			t.Errorf("%s: %d steps", name, steps)
		}
		checkMatches(t, lists[0], lists[1], matches)
	}
	few := slices.Clone(hostileLists(n)["of two values"][0])
	less := slices.Delete(slices.Delete(slices.Clone(few), 70_000, 70_004), 30_000, 30_003)
	e := effort{left: maxEffort}
	if matches := align(few, less, &e, nil); len(matches) != n-7 || maxEffort-e.left > 4*n {
		t.Errorf("%d matches with %d steps", len(matches), maxEffort-e.left)
	}
	spent := effort{}
	if matches := align(few, less, &spent, nil); len(matches) < 50_000 || len(matches) >= n-7 {
		t.Errorf("%d matches without any steps left", len(matches))
	}
}

func checkMatches(t *testing.T, a, b []uint64, matches []match) {
	t.Helper()
	last := match{-1, -1}
	for _, m := range matches {
		if m.before <= last.before || m.after <= last.after || a[m.before] != b[m.after] {
			t.Fatalf("%+v behind %+v", m, last)
		}
		last = m
	}
}

// Many lists share what may be spent, so that they are no way around the bound of one.
func TestListsShareTheEffort(t *testing.T) {
	lists := func(shift int) []byte {
		var all []string
		for n := range 50 {
			var elements []string
			for i := range 2000 {
				elements = append(elements, fmt.Sprint((i*7919+shift*n)%2000))
			}
			all = append(all, fmt.Sprintf(`"l%d":[%s]`, n, strings.Join(elements, ",")))
		}
		return one(fmt.Sprintf(`{"attributes":{%s}}`, strings.Join(all, ",")))
	}
	a, b := parse(t, lists(0)), parse(t, lists(1))
	options := Options{effort: &effort{left: 100_000}}
	changes := 0
	for c, err := range Changes(a, b, options) {
		changes += len(c.Attributes)
		if err != nil {
			t.Fatal(err)
		}
	}
	if changes == 0 || options.effort.left > 0 || options.effort.left < -10_000 {
		t.Errorf("%d changes, %d steps are left", changes, options.effort.left)
	}
}
