package inventory

import (
	"fmt"
	"iter"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

func resources(names ...string) iter.Seq2[Positioned, error] {
	return func(yield func(Positioned, error) bool) {
		for _, name := range names {
			if !yield(Positioned{Record: Record{Resource: Resource{ResourceName: name}}}, nil) {
				return
			}
		}
	}
}

// The limit counts identities, not records, and is no error until one more comes.
func TestNewestIsBounded(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  string
		wide  bool
	}{
		{[]string{"a", "b", "a", "b", "a"}, "[a b]", false},
		{[]string{"a", "a", "b", "c", "a"}, "[a b]", true},
	} {
		var got []string
		var failure error
		l := latest{most: 2, turn: func() (func(), error) { return func() {}, nil },
			yield: func(record Positioned, err error) bool {
				if failure = err; err == nil {
					got = append(got, record.ResourceName)
				}
				return true
			}}
		l.run(t.Context(), resources(test.names...))
		if fmt.Sprint(got) != test.want || fault.Is(failure, fault.QueryTooWide) != test.wide {
			t.Errorf("%q: %q, %v", test.names, got, failure)
		}
	}
}

// many are records of so many identities, twice each.
func many(identities int) iter.Seq2[Positioned, error] {
	return func(yield func(Positioned, error) bool) {
		for n := range 2 * identities {
			if !yield(Positioned{Record: Record{Resource: Resource{ResourceName: fmt.Sprint(n % identities)}}}, nil) {
				return
			}
		}
	}
}

// turnstile counts turns, and knows whether somebody has one.
type turnstile struct {
	taken int
	held  bool
}

func (s *turnstile) turn() (func(), error) {
	s.taken, s.held = s.taken+1, true
	return func() { s.held = false }, nil
}

// A turn is held to read, and for no more than so many records; never while the reader
// takes what was found.
func TestTurnsAreHeldToRead(t *testing.T) {
	var s turnstile
	found := 0
	l := latest{most: 1 << 20, turn: s.turn, yield: func(_ Positioned, err error) bool {
		if found++; s.held || err != nil {
			t.Fatalf("record %d comes while a turn is held: %t, %v", found, s.held, err)
		}
		return true
	}}
	l.run(t.Context(), many(25_000))
	// Of the first part, each piece is full; of the second, which is known, the turns are.
	if want := 1 + 25 + 2; found != 25_000 || s.held || s.taken < want || s.taken > want+2 {
		t.Errorf("%d records in %d turns, want %d in %d", found, s.taken, 25_000, want)
	}
}

// Who leaves leaves no turn and no memory behind.
func TestLeavingLatest(t *testing.T) {
	memory := budget.New(10<<20, "bytes")
	for _, stop := range []int{1, firstPiece, firstPiece + 1, 5000} {
		var s turnstile
		left := stop
		l := latest{hold: memory.Hold(budget.Share{}), most: 1 << 20, turn: s.turn,
			yield: func(Positioned, error) bool { left--; return left > 0 }}
		l.run(t.Context(), many(25_000))
		if s.held || left != 0 || memory.InUse() != 0 {
			t.Errorf("after %d records a turn is held: %t, and %d bytes", stop, s.held, memory.InUse())
		}
	}
}

// What is remembered counts as it grows, and ends where there is no memory.
func TestWhatLatestRemembersIsBounded(t *testing.T) {
	memory := budget.New(2<<20, "bytes")
	var s turnstile
	var failure error
	found, most := 0, int64(0)
	l := latest{hold: memory.Hold(budget.Share{}), most: 1 << 20, turn: s.turn, yield: func(_ Positioned, err error) bool {
		if failure = err; err == nil {
			found++
		}
		most = max(most, memory.InUse())
		return true
	}}
	l.run(t.Context(), many(100_000))
	if !fault.Is(failure, fault.Overloaded) || found < 10_000 || most < int64(found)*identityBytes || most > 2<<20 ||
		memory.InUse() != 0 || s.held {
		t.Errorf("%v after %d records, with %d bytes", failure, found, most)
	}
}

// The borders between the texts count.
func TestIdentities(t *testing.T) {
	seen := map[identity]bool{}
	for _, r := range []Resource{{Provider: "ab"}, {Provider: "a", Category: "b"}, {Category: "ab"}, {ResourceType: "ab"},
		{ResourceName: "ab"}, {ResourceType: "a", ResourceName: "b"}} {
		id, _ := identify(r, nil)
		if seen[id] {
			t.Errorf("%+v looks like another", r)
		}
		seen[id] = true
	}
}

func TestAppendJSON(t *testing.T) {
	r := Record{Resource: Resource{Provider: "aws", Category: "c", ResourceType: "t", ResourceName: "<\"&\u2028\n>",
		Attributes: []byte(`{"a":"<&>"}`)}}
	want := `{"timestamp":"0001-01-01T00:00:00.000000Z","org_id":"00000000-0000-0000-0000-000000000000","data":{"provider":"aws","category":"c","resource_type":"t",` +
		"\"resource_name\":\"<\\\"&\u2028\\n>\"," + `"attributes":{"a":"<&>"}}}`
	if got := string(r.AppendJSON(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
