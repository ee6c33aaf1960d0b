package state

import (
	"math"
	"testing"
)

func TestSerialAbove(t *testing.T) {
	const most = math.MaxUint64
	for _, c := range []struct {
		name  string
		from  uint64
		taken []uint64
		want  uint64
	}{
		{"above all", 1, []uint64{1, 7, 3}, 8},
		{"above a jump, as long as there is room", 1, []uint64{1, 5_000_000_000}, 5_000_000_001},
		{"no room", 2, []uint64{1, 2, most, 3}, 4},
		{"no room beyond a jump", 2, []uint64{1, 2, 9_000_000, most}, 3},
		{"no room above what the old version reaches", 9_000_000, []uint64{1, 9_000_000, 9_500_000, most}, 9_500_001},
		{"the old version has no room", most, []uint64{most, 4, 1}, 5},
		{"nothing else is there", most, []uint64{most, most}, 1},
		{"the last that all readers can count to", lastSerial - 1, []uint64{lastSerial - 1}, lastSerial},
		{"and behind it", lastSerial - 1, []uint64{lastSerial - 1, lastSerial, 6}, 7},
	} {
		if got := serialAbove(c.from, c.taken); got != c.want {
			t.Errorf("%s: %d; want %d", c.name, got, c.want)
		}
	}
}

func TestWithSerial(t *testing.T) {
	for body, want := range map[string]string{
		`{"serial":1}`: `{"serial":42}`,
		"{ \"version\": 4,\n  \"serial\" : 7 ,\"a\":[{\"serial\":3}]}\n": "{ \"version\": 4,\n  \"serial\" : 42 " +
			",\"a\":[{\"serial\":3}]}\n",
		`{"s\u0065rial":18446744073709551615}`: `{"s\u0065rial":42}`,
	} {
		// With more capacity than length, as buffers have.
		got, err := withSerial(append(make([]byte, 0, 1000), body...), 42)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", body, got, err, want)
		}
	}
	if _, err := withSerial([]byte(`{"version":4}`), 1); err == nil {
		t.Error("a state without a serial got one")
	}
}
