package document

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/internal/suite"
)

// wantSame checks that a body counts as it does by itself when another one was counted before, whatever that is, and
// returns what is to be known of it.
func wantSame(t *testing.T, before []byte, known Entries, body []byte) Entries {
	t.Helper()
	told := func(to *[]string) func(name, value []byte) error {
		return func(name, value []byte) error {
			*to = append(*to, fmt.Sprintf("%s=%s", name, value))
			return nil
		}
	}
	var wantTold, gotTold []string
	want, wantErr := CountAlong(body, told(&wantTold))
	got, found, err := CountAfter(body, told(&gotTold), before, known)
	if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(gotTold, wantTold) {
		t.Fatalf("counted %+v, %v after another body, and %+v, %v by itself:\n%.2000s", got, err, want, wantErr, body)
	}
	if _, alone, _ := CountAfter(body, nil, nil, nil); !slices.Equal(found, alone) || (found == nil) != (alone == nil) {
		t.Fatalf("%d entries were found after another body, and %d by itself", len(found), len(alone))
	}
	return found
}

// changedBody returns a body that some edit makes of another one's entries, which mostly is a state.
func changedBody(r *rand.Rand, body []byte, entries Entries) []byte {
	next := bytes.Clone(body)
	if len(entries) < 2 {
		return next
	}
	one, other := entries[r.IntN(len(entries))], entries[r.IntN(len(entries))]
	text := body[one.start:one.end]
	switch r.IntN(9) {
	case 0: // another byte, anywhere
		next[r.IntN(len(next))] = byte(r.Uint32())
	case 1: // cut off
		next = next[:r.IntN(len(next))]
	case 2: // one more
		next = slices.Insert(next, int(other.start), slices.Concat(text, []byte(", \n"))...)
	case 3: // some less
		if one.start < other.start {
			next = slices.Delete(next, int(one.start), int(other.start))
		}
	case 4: // another one in its place
		next = slices.Concat(body[:other.start], text, body[other.end:])
	case 5: // what is behind it is something else
		next = slices.Insert(next, int(one.end), "}],\" x{"[r.IntN(7)])
	case 6: // many bytes
		for range r.IntN(60) {
			e := entries[r.IntN(len(entries))]
			next[int(e.start)+r.IntN(int(e.end-e.start))] = 'x'
		}
	case 7: // a digit
		if i := bytes.IndexAny(next[one.start:one.end], "0123456789"); i >= 0 {
			next[int(one.start)+i] = '7'
		}
	}
	return next
}

// TestCountAfterAnything goes from body to body, of which many are no states.
func TestCountAfterAnything(t *testing.T) {
	suite.Deep(t)
	r := rand.New(rand.NewPCG(3, 4))
	for seed := range uint64(40) {
		s := sample.NewState(20_000, seed)
		var before []byte
		var known Entries
		for range 60 {
			s.Change()
			body := bytes.Clone(s.Bytes())
			found := wantSame(t, before, known, body)
			if found == nil {
				t.Fatal("nothing was found in a state")
			}
			before, known = body, found
			for range 4 {
				body = changedBody(r, body, found)
				wantSame(t, before, known, body)
				if _, alone, err := CountAfter(body, nil, nil, nil); err == nil {
					found = alone
				} else {
					break
				}
			}
		}
	}
}

// TestCountAfterLooksNoFurther: what was known is taken as it was, and of what has moved far or changed much the rest
// is found again.
func TestCountAfterLooksNoFurther(t *testing.T) {
	entry := func(i int) string {
		return fmt.Sprintf(`{"mode":"managed","type":"t","name":"n%d","instances":[{"attributes":{"id":"%0120d"}}]}`, i, i)
	}
	state := func(numbers ...int) []byte {
		var all []string
		for _, i := range numbers {
			all = append(all, entry(i))
		}
		return fmt.Appendf(nil, `{"version":4,"resources":[%s]}`, join(all))
	}
	numbers := func(from, to int) (all []int) {
		for i := from; i < to; i++ {
			all = append(all, i)
		}
		return all
	}
	before := state(numbers(0, 100)...)
	_, known, err := CountAfter(before, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		numbers []int
		unlike  int
	}{
		"the same":      {numbers(0, 100), 0},
		"one more":      {slices.Concat([]int{-1}, numbers(0, 100)), 1},
		"one less":      {numbers(1, 100), 0},
		"five changed":  {slices.Concat(numbers(0, 10), numbers(900, 905), numbers(15, 100)), 5},
		"fifty changed": {slices.Concat(numbers(900, 950), numbers(50, 100)), 50},
		"three less":    {numbers(skips+1, 100), 1},
	} {
		body := state(c.numbers...)
		wantSame(t, before, known, body)
		k := counting{before: before, known: known, most: 1000}
		if err := k.read(body, nil); err != nil {
			t.Fatal(err)
		}
		if k.unlike != c.unlike {
			t.Errorf("%s: %d entries were looked into, want %d", name, k.unlike, c.unlike)
		}
	}
}

func join(all []string) (text []byte) {
	for i, one := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, one...)
	}
	return text
}

// FuzzCountAfter counts any two bodies one after the other.
func FuzzCountAfter(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add(one(`{}`), one(`{},{}`), uint16(80), uint16(3))
	f.Add([]byte(`{"version":4,"resources":[{"mode":"data"},{"mode":"data","instances":[{}]}]}`),
		[]byte(`{"resources":[{"mode":"data"} ,{"mode":"data"}]],"version":4}`), uint16(9), uint16(9))
	f.Fuzz(func(t *testing.T, before, body []byte, from, length uint16) {
		first := counting{most: 1 << 16} // also of what is too short to be worth it
		if first.read(before, nil) != nil {
			return
		}
		known := first.found
		wantKnown := func(body []byte) {
			want, wantErr := CountAlong(body, nil)
			c := counting{before: before, known: known, most: 1 << 16}
			if err := c.read(body, nil); c.Counts != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("counted %+v, %v after another body, and %+v, %v by itself", c.Counts, err, want, wantErr)
			}
		}
		wantKnown(body)
		wantKnown(before)
		at := min(int(from), len(before))
		until := min(at+int(length), len(before))
		wantKnown(slices.Concat(before[:at], body, before[until:]))
		wantKnown(slices.Concat(before[:until], before[at:]))
		if len(known) > 0 {
			e := known[int(from)%len(known)]
			wantKnown(slices.Concat(before[:e.start], before[e.start:e.end], body, before[e.end:]))
			wantKnown(slices.Concat(before[:e.start], body, before[e.end:]))
		}
	})
}
