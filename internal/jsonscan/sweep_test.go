package jsonscan

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// smallState has every kind of token, and the layout of a real state.
const smallState = "{\n  \"version\": 4,\n  \"serial\": 12,\n  \"lineage\": \"3f0c2f51-6d0a\",\n  \"outputs\": {},\n" +
	"  \"resources\": [\n    {\n      \"name\": \"M\u00fcnchen \\\"a\\\" \\ud83d\\ude00 \\u00e9\",\n      \"cost\": " +
	"-12.75e+2,\n" +
	"      \"on\": [true, false, null, [], {}]\n    }\n  ]\n}"

// TestTruncated cuts a state off at every byte: none of the pieces is a state.
func TestTruncated(t *testing.T) {
	if err := Object([]byte(smallState), Limits{}, nil); err != nil {
		t.Fatal(err)
	}
	for n := range len(smallState) {
		err := Object([]byte(smallState[:n]), Limits{}, nil)
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok || syntax.Offset > n {
			t.Errorf("cut at %d: %v, want a SyntaxError up to there", n, err)
		}
	}
}

// TestMutated puts every byte value at every place of a state, and takes every byte out.
func TestMutated(t *testing.T) {
	for i := range len(smallState) {
		compare(t, []byte(smallState[:i]+smallState[i+1:]))
		data := []byte(smallState)
		for c := range 256 {
			data[i] = byte(c)
			compare(t, data)
		}
	}
}

// TestEveryByteInText puts every byte at every place of strings of every length up to
// three words, whose ends fall on every place in a word.
func TestEveryByteInText(t *testing.T) {
	for length := 1; length <= 24; length++ {
		data := []byte(`{"a":"` + strings.Repeat("x", length) + `"}`)
		for i := range length {
			for c := range 256 {
				data[6+i] = byte(c)
				compare(t, data)
			}
			data[6+i] = 'x'
		}
	}
}

// TestTextStops compares the lowest stop with a search byte by byte, for every pair of
// neighbours, because a subtraction may borrow, and for random words.
func TestTextStops(t *testing.T) {
	check := func(w uint64) {
		want := 8
		for i := range 8 {
			if c := byte(w >> (8 * i)); c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
				want = i
				break
			}
		}
		if got := bits.TrailingZeros64(textStops(w)) / 8; got != want {
			t.Fatalf("textStops(%#x): lowest at %d, want %d", w, got, want)
		}
	}
	for pair := range uint64(1 << 16) {
		for i := range 7 {
			rest := uint64('x'*lanes) &^ (0xffff << (8 * i))
			check(rest | pair<<(8*i))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1 << 18 {
		check(random.Uint64())
		check(random.Uint64() & (0x7f * lanes))
	}
}

// TestDeep nests as deep as 16 MB allow. It costs a bit for each bracket, and a few times
// as much again for growing the stack; the time bound leaves room for the race detector.
func TestDeep(t *testing.T) {
	const size = 16 << 20
	data := []byte(`{"a":` + strings.Repeat("[", size))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := Object(data, Limits{}, nil)
	took := time.Since(start)
	runtime.ReadMemStats(&after)

	if syntax, ok := errors.AsType[*SyntaxError](err); !ok || syntax.Offset != len(data) {
		t.Errorf("error %v, want a SyntaxError at the end", err)
	}
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%v, %d MB allocated", took, allocated>>20)
	if allocated > size {
		t.Errorf("allocated %d MB for %d MB of brackets", allocated>>20, size>>20)
	}
	if took > time.Minute {
		t.Errorf("took %v", took)
	}
	if _, ok := errors.AsType[*LimitError](Object(data, Limits{Depth: 10}, nil)); !ok {
		t.Error("the limit was not kept")
	}
}

// TestDeepAndBack closes again what it opened.
func TestDeepAndBack(t *testing.T) {
	const size = 1 << 20
	data := `{"a":` + strings.Repeat(`[{"b":`, size) + "1" + strings.Repeat("}]", size) + "}"
	if err := Object([]byte(data), Limits{}, nil); err != nil {
		t.Error(err)
	}
}

func TestAllocatesNothing(t *testing.T) {
	data := realisticState()
	count := 0
	allocs := testing.AllocsPerRun(10, func() {
		err := Object(data, Limits{Depth: 64}, func(_, _ []byte) error {
			count++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 || count == 0 {
		t.Errorf("%v allocations and %d members, want 0 and some", allocs, count)
	}
}
