package state

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/internal/suite"
)

// lending is a store that has one version in memory.
type lending struct {
	Store
	lent Snapshot
}

func (l *lending) Lent(Ref) (Snapshot, bool) { return l.lent, l.lent.Body != nil }

// TestSurveyedBesideAnother: whatever version a store lends, and whatever is to be stored, it is found to be what it is
// by itself.
func TestSurveyedBesideAnother(t *testing.T) {
	store := &lending{}
	s := &Service{store: store, tallies: newTallies()}
	ref := Ref{Org: uuid.New(), Name: "s"}
	places := s.tallies.places.Load()
	want := func(body []byte) {
		t.Helper()
		summary, resources, err := survey(body)
		got, found, gotErr := s.surveyed(ref, body, sha256.Sum256(body))
		if got != summary || found != resources || fmt.Sprint(gotErr) != fmt.Sprint(err) {
			t.Fatalf("%+v, %d, %v; by itself it is %+v, %d, %v", got, found, gotErr, summary, resources, err)
		}
		if s.tallies.places.Load() != places {
			t.Fatal("a place was not given back")
		}
	}
	states := sample.NewState(100_000, 1)
	for n := range 30 {
		body := bytes.Clone(states.Bytes())
		want(body)
		want(body)
		for _, at := range []int{0, len(body) / 2, len(body) - 1} {
			broken := bytes.Clone(body)
			broken[at] ^= 0x80
			want(broken)
			want(body[:at])
		}
		want(append(bytes.Clone(body), '}'))
		want(bytes.Replace(body, []byte(`"version"`), []byte(`"encrypted_data":"x","serial"`), 1))
		want(body)
		if n%3 != 0 { // or it stays an older one, or none
			store.lent = Snapshot{Version: Version{Digest: sha256.Sum256(body)}, Body: body}
			if known := s.tallies.of(ref); known.digest != store.lent.Digest || known.entries == nil {
				t.Fatal("what was counted is not known")
			}
		}
		states.Change()
	}
	s.tallies.places.Store(0)
	places = 0
	want(states.Bytes())
}

// TestTalliesAreBounded wants no more in memory than is counted, and that to be bounded.
func TestTalliesAreBounded(t *testing.T) {
	suite.Deep(t)
	tallies := newTallies()
	s := &Service{store: &lending{}, tallies: tallies}
	for i := range 120 {
		body := sample.NewState(1_000_000, 1).Bytes()
		if _, _, err := s.surveyed(Ref{Name: Name(fmt.Sprint(i % 100))}, body, sha256.Sum256(body)); err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, one := range tallies.known.Values() {
			held += one.cost()
		}
		if held != tallies.bytes || held > talliesBytes || held == 0 {
			t.Fatalf("%d bytes are held, %d counted", held, tallies.bytes)
		}
	}
}
