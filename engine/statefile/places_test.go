package statefile

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/engine/addr"
)

// What is set is found, whatever was set and removed before, and in whatever order the resources stand by now.
func TestSetFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, want := New(), map[string]string{}
		for n := range rapid.IntRange(0, 40).Draw(t, "steps") {
			a := addr.Resource{Type: "a_b", Name: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name"),
				Data: rapid.Bool().Draw(t, "data")}
			if rapid.Bool().Draw(t, "key") {
				a.Key = "k"
			}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				f.Remove(a, "")
				delete(want, a.String())
			case 1:
				f.sort()
			case 2:
				f = f.Clone()
			default:
				id := fmt.Sprint(n)
				f.Set(a, "p", Instance{Status: id})
				want[a.String()] = id
			}
		}
		found := 0
		for i := range f.Resources {
			base, err := f.Resources[i].Address()
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range f.Resources[i].Instances {
				found++
				if at := base.WithKey(in.IndexKey).String(); want[at] != in.Status {
					t.Fatalf("%s is %q, want %q", at, in.Status, want[at])
				}
			}
		}
		if found != len(want) {
			t.Fatalf("%d objects, want %d: %+v", found, len(want), f.Resources)
		}
	})
}
