package delta

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// wantJoined checks that the scripts from base to between and from there to body, joined, lead from base to body.
func wantJoined(t *testing.T, base, between, body, first []byte) (script []byte) {
	t.Helper()
	second, ok := Diff(between, body, 8*(len(body)+64))
	if !ok {
		t.Fatal("there is no second script")
	}
	wasFirst, wasSecond := bytes.Clone(first), bytes.Clone(second)
	script, ok = Join(between, first, second, math.MaxInt)
	if !ok {
		t.Fatal("two scripts can't be joined")
	}
	if got, err := Patch(base, script, len(body)); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("the joined script makes %d bytes, %v; want the %d of the body", len(got), err, len(body))
	}
	if !bytes.Equal(first, wasFirst) || !bytes.Equal(second, wasSecond) {
		t.Fatal("Join changed what it looked at")
	}
	for _, limit := range []int{0, len(script) / 2, len(script) - 1, len(script)} {
		if got, ok := Join(between, first, second, limit); limit >= 0 && ok != (len(script) <= limit) ||
			ok && !bytes.Equal(got, script) {
			t.Fatalf("with a limit of %d of the %d bytes: %v", limit, len(script), ok)
		}
	}
	return script
}

func diffed(t *testing.T, base, body []byte) []byte {
	t.Helper()
	script, ok := Diff(base, body, 8*(len(body)+64))
	if !ok {
		t.Fatal("there is no script")
	}
	return script
}

// TestJoin goes on and on from one base, as the versions of a state do: each script is made of the one before, and
// is not much longer than the one that is made of the base itself.
func TestJoin(t *testing.T) {
	s := sample.NewState(100_000, 1)
	base := bytes.Clone(s.Bytes())
	script, between := Whole(len(base)), base
	for range 40 {
		s.Change()
		body := bytes.Clone(s.Bytes())
		script = wantJoined(t, base, between, body, script)
		if direct := diffed(t, base, body); len(script) > 2*len(direct)+100 {
			t.Fatalf("the joined script has %d bytes, the direct one %d", len(script), len(direct))
		}
		between = body
	}
}

// TestJoinAnything joins scripts between random texts that have pieces in common.
func TestJoinAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	pieces := make([][]byte, 12)
	for i := range pieces {
		pieces[i] = noise(random.IntN(400), uint64(i))
	}
	text := func() (all []byte) {
		for range random.IntN(20) {
			p := pieces[random.IntN(len(pieces))]
			from := random.IntN(len(p) + 1)
			all = append(all, p[from:from+random.IntN(len(p)-from+1)]...)
		}
		return all
	}
	for range 3000 {
		base, between := text(), text()
		script := diffed(t, base, between)
		for range 4 {
			body := text()
			script = wantJoined(t, base, between, body, script)
			between = body
		}
	}
}

// TestJoinRefuses what is no script, or none of between.
func TestJoinRefuses(t *testing.T) {
	base, between := states(20_000, 2)
	first, second := diffed(t, base, between), diffed(t, between, base)
	for name, c := range map[string]struct{ between, first, second []byte }{
		"first cut off":       {between, first[:len(first)-1], second},
		"second cut off":      {between, first, second[:len(second)-1]},
		"between is shorter":  {between[:len(between)-1], first, second},
		"first ends early":    {append(bytes.Clone(between), 'x'), first, second},
		"second wants more":   {between, first, Whole(len(between) + 1)},
		"second starts below": {between, first, []byte{0, 1, 1}},
	} {
		if _, ok := Join(c.between, c.first, c.second, math.MaxInt); ok {
			t.Errorf("%s: it is joined", name)
		}
	}
}

// FuzzJoin also has any bytes for a script: they are refused, or lead where the two steps lead.
func FuzzJoin(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte("resource "), []byte("resources"), []byte("serial"), uint16(3), uint16(9))
	f.Fuzz(func(t *testing.T, a, b, c []byte, times, cut uint16) {
		base := bytes.Repeat(join(a, b), int(times%64))
		between := join(base[min(int(cut), len(base)):], c, base, a)
		body := join(c, between[min(int(cut/2), len(between)):], b, base[:min(int(cut), len(base))])
		first := diffed(t, base, between)
		wantJoined(t, base, between, body, first)
		wantJoined(t, base, base, body, Whole(len(base)))

		made, err := Patch(base, a, len(c))
		if err != nil {
			return
		}
		made2, err2 := Patch(made, b, len(a))
		script, ok := Join(made, a, b, math.MaxInt)
		if err2 == nil {
			got, err := Patch(base, script, len(a))
			if !ok || err != nil || !bytes.Equal(got, made2) {
				t.Fatalf("joined %v: %v, %q; want %q", ok, err, got, made2)
			}
		}
	})
}
