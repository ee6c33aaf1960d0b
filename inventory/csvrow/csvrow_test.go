package csvrow

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// What AppendRow writes, encoding/csv reads; of its own it spells line ends otherwise.
func FuzzAppendRow(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add("a", ` b"`, "c,\n")
	f.Add("", "=1+1", "\t")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := []string{a, b, c}
		row := AppendRow(nil, want...)
		got, err := csv.NewReader(strings.NewReader(string(row))).Read()
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "\r\n", "\n")
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q reads %q (%v), want %q", row, got, err, want)
		}
	})
}
