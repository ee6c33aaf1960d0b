package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

func TestStatesAreStates(t *testing.T) {
	for _, size := range []int{MinState, 10_000, 100_000, 1_000_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := NewState(size, 1)
			for range 3 {
				checkState(t, s, size)
				s.Change()
			}
		})
	}
}

func checkState(t *testing.T, s *State, size int) {
	t.Helper()
	if got := len(s.Bytes()); got != size {
		t.Errorf("%d bytes, want %d", got, size)
	}
	var parsed struct {
		Version   int
		Serial    uint64
		Lineage   string
		Resources []struct {
			Type      string
			Instances []struct{ Attributes map[string]any }
		}
	}
	if err := json.Unmarshal(s.Bytes(), &parsed); err != nil {
		t.Fatalf("%v in\n%.3000s", err, s.Bytes())
	}
	if parsed.Version != 4 || parsed.Serial != s.Serial() || len(parsed.Lineage) != 36 {
		t.Errorf("version %d, serial %d, lineage %q", parsed.Version, parsed.Serial, parsed.Lineage)
	}
	if want := size / 2_500; len(parsed.Resources) < want {
		t.Errorf("%d resources, want at least %d", len(parsed.Resources), want)
	}
	for _, r := range parsed.Resources {
		if r.Type == "" || len(r.Instances) != 1 || len(r.Instances[0].Attributes) == 0 {
			t.Fatalf("resource %+v", r)
		}
	}
	if summary, err := state.Scan(s.Bytes()); err != nil || summary.Serial != s.Serial() {
		t.Errorf("the service reads serial %d, %v", summary.Serial, err)
	}
}

func TestStatesChange(t *testing.T) {
	s := NewState(100_000, 1)
	for range 10 {
		before := bytes.Clone(s.Bytes())
		s.Change()
		differs := 0
		for i, c := range s.Bytes() {
			if before[i] != c {
				differs++
			}
		}
		if differs < edits*4 || differs > 1_000 {
			t.Errorf("%d bytes differ between two versions", differs)
		}
	}
}

func TestSeeds(t *testing.T) {
	one, same, other := NewState(100_000, 1), NewState(100_000, 1), NewState(100_000, 2)
	one.Change()
	same.Change()
	other.Change()
	if !bytes.Equal(one.Bytes(), same.Bytes()) {
		t.Error("the same seed makes other bytes")
	}
	if bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Error("another seed makes the same bytes")
	}
}

// TestStatesCompress holds the states to what real ones are: about seven times smaller
// when compressed, neither noise nor repetition.
func TestStatesCompress(t *testing.T) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{100_000, 1_000_000} {
		body := NewState(size, 1).Bytes()
		if ratio := float64(size) / float64(len(encoder.EncodeAll(body, nil))); ratio < 5 || ratio > 10 {
			t.Errorf("%d bytes compress %.1f times", size, ratio)
		}
	}
}

func TestUploadsAreUploads(t *testing.T) {
	u := NewUpload(100, 1)
	before := bytes.Clone(u.Bytes())
	for range 2 {
		if _, err := inventory.Parse(u.Bytes()); err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Instances []struct{ Attributes map[string]any }
		}
		if err := json.Unmarshal(u.Bytes(), &parsed); err != nil || len(parsed.Instances) != 100 {
			t.Fatalf("%d instances, %v", len(parsed.Instances), err)
		}
		u.Change()
	}
	if bytes.Equal(before, u.Bytes()) {
		t.Error("uploads don't change")
	}
}
