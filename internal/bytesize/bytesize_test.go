package bytesize_test

import (
	"math"
	"testing"

	"github.com/holdfast/holdfast/internal/bytesize"
)

func TestParse(t *testing.T) {
	tests := map[string]int64{
		"1": 1, "1B": 1, "2kB": 2000, "2 KiB": 2048, "10MB": 10_000_000, "512MiB": 512 << 20,
		"3gb": 3_000_000_000, "1GiB": 1 << 30, "9223372036854775807": math.MaxInt64,
		"": 0, "0": 0, "0MiB": 0, "-1": 0, "+1": 0, "1.5GiB": 0, "10M": 0, "MiB": 0, "1  MB": 0, " 1": 0,
		"9223372036854775808": 0, "8589934592GiB": 0,
	}
	for text, want := range tests {
		got, err := bytesize.Parse(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}
