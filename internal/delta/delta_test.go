package delta

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func noise(n int, seed uint64) []byte {
	random, b := rand.New(rand.NewPCG(seed, 0)), make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// states returns a state and what it is some changes later.
func states(size, changes int) (base, body []byte) {
	s := sample.NewState(size, 1)
	base = bytes.Clone(s.Bytes())
	for range changes {
		s.Change()
	}
	return base, s.Bytes()
}

// like returns resources that have all but their names and numbers in common.
func like(from, to int) (all []byte) {
	for i := from; i < to; i++ {
		all = fmt.Appendf(all, `{"type":"aws_instance","id":"i-%016x","associate_public_ip_address":false,"private_ip":"10.0.%03d.1"},`,
			rand.New(rand.NewPCG(uint64(i), 0)).Uint64(), i+1)
	}
	return all
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// wantScript checks that a script of at most so many bytes leads from base to body.
func wantScript(t *testing.T, base, body []byte, most int) {
	t.Helper()
	wasBase, wasBody := bytes.Clone(base), bytes.Clone(body)
	script, ok := Diff(base, body, 8*(most+64)) // it gives up early
	if !ok {
		t.Fatalf("no script leads from %d bytes to %d", len(base), len(body))
	}
	if len(script) > most {
		t.Fatalf("the script has %d bytes, want at most %d", len(script), most)
	}
	if !bytes.Equal(base, wasBase) || !bytes.Equal(body, wasBody) {
		t.Fatal("Diff changed what it looked at")
	}
	got, err := Patch(base, script, len(body))
	if err != nil || !bytes.Equal(got, body) {
		t.Fatalf("Patch made %d bytes, %v; want the %d of the body", len(got), err, len(body))
	}
}

func TestScripts(t *testing.T) {
	a, b := noise(10_000, 1), noise(3_000, 2)
	state, changed := states(100_000, 1)
	for name, c := range map[string]struct {
		base, body []byte
		most       int
	}{
		"nothing":         {nil, nil, 0},
		"from nothing":    {nil, a, len(a) + 9},
		"to nothing":      {a, nil, 0},
		"the same":        {a, a, 9},
		"short":           {[]byte("a"), []byte("b"), 9},
		"first byte":      {a, join(b[:1], a[1:]), 19},
		"last byte":       {a, join(a[:9_999], b[:1]), 19},
		"value replaced":  {a, join(a[:5_000], b[:40], a[5_040:]), 59},
		"value longer":    {a, join(a[:5_000], b[:40], a[5_000:]), 59},
		"value shorter":   {a, join(a[:5_000], a[5_040:]), 19},
		"front inserted":  {a, join(b, a), len(b) + 19},
		"front removed":   {a, a[3_000:], 19},
		"end appended":    {a, join(a, b), len(b) + 19},
		"end removed":     {a, a[:3_000], 9},
		"moved":           {join(a, b), join(b, a), 29},
		"twice":           {a, join(a, a), 19},
		"a state":         {state, changed, 600},
		"a state, longer": {state, join(changed[:50_000], changed[10_000:12_500], changed[50_000:]), 800},
		"one of many":     {like(0, 200), like(-1, 200), 3_000},
	} {
		t.Run(name, func(t *testing.T) { wantScript(t, c.base, c.body, c.most) })
	}
}

// TestLimit tries every limit: no script is longer, and there is one when there is room.
func TestLimit(t *testing.T) {
	a, b := noise(100_000, 1), noise(100_000, 2)
	if _, ok := Diff(a, b, 50_000); ok {
		t.Error("there is a script between texts that have nothing in common")
	}
	base, body := states(20_000, 3)
	script, ok := Diff(base, body, len(body))
	if !ok {
		t.Fatal("there is no script")
	}
	for limit := range 2 * len(script) {
		if got, ok := Diff(base, body, limit); ok && len(got) > limit {
			t.Fatalf("the script has %d bytes with a limit of %d", len(got), limit)
		}
	}
	if got, ok := Diff(base, body, 2*len(script)); !ok || !bytes.Equal(got, script) {
		t.Errorf("a script of %d bytes with a limit of twice the %d that it needs", len(got), len(script))
	}
}

// TestDamagedScripts changes every byte of a script: it is refused, or makes as many bytes
// as asked for; and cuts it short, which is always seen.
func TestDamagedScripts(t *testing.T) {
	base, body := states(20_000, 2)
	script, _ := Diff(base, body, math.MaxInt)
	for i := range script {
		for _, flip := range []byte{1, 0x40, 0x80, 0xff} {
			damaged := bytes.Clone(script)
			damaged[i] ^= flip
			if got, err := Patch(base, damaged, len(body)); err == nil && len(got) != len(body) {
				t.Fatalf("byte %d: %d bytes", i, len(got))
			}
		}
		if _, err := Patch(base, script[:i], len(body)); err == nil {
			t.Fatalf("the first %d bytes are taken for all %d", i, len(script))
		}
	}
	for _, size := range []int{0, len(body) - 1, len(body) + 1} {
		if _, err := Patch(base, script, size); err == nil {
			t.Errorf("%d bytes are made of a script that makes %d", size, len(body))
		}
	}
	if _, err := Patch(base[:len(base)-1], script, len(body)); err == nil {
		t.Error("a base that is too short goes through")
	}
}

func FuzzDiff(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte("resource "), []byte("resources"), uint16(3), uint16(9))
	f.Fuzz(func(t *testing.T, a, b []byte, times, cut uint16) {
		// Few inputs are long enough to repeat something: so what is given is repeated.
		base := bytes.Repeat(join(a, b), int(times%64))
		body := join(base[min(int(cut), len(base)):], b, base, a)
		wantScript(t, base, body, 2*len(body)+64)
	})
}

func FuzzPatch(f *testing.F) {
	fuzzseeds.Add(f)
	base, body := states(3_000, 1)
	script, _ := Diff(base, body, math.MaxInt)
	f.Add(base, script, uint16(len(body)))
	f.Fuzz(func(t *testing.T, base, script []byte, size uint16) {
		if body, err := Patch(base, script, int(size)); err == nil && len(body) != int(size) {
			t.Errorf("%d bytes, want %d", len(body), size)
		}
	})
}

// BenchmarkDiff also says how long the scripts are: of a state that has changed a little, of
// one with a resource more, and of the first half of another one.
func BenchmarkDiff(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000, 10_000_000} {
		base, body := states(size, 1)
		other := sample.NewState(size, 2).Bytes()
		for name, body := range map[string][]byte{
			"changed": body, "longer": join(body[:size/2], body[:2_500], body[size/2:]), "other": other,
		} {
			b.Run(fmt.Sprintf("%dKB/%s", size/1000, name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				var script []byte
				for b.Loop() {
					script, _ = Diff(base, body, size/20)
				}
				b.ReportMetric(float64(len(script)), "B/script")
			})
		}
	}
}

func BenchmarkPatch(b *testing.B) {
	base, body := states(1_000_000, 16)
	script, _ := Diff(base, body, math.MaxInt)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Patch(base, script, len(body)); err != nil {
			b.Fatal(err)
		}
	}
}
