package sensitive

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

func TestValues(t *testing.T) {
	got := Values(
		[]api.Input{{Value: "a", Sensitive: true}, {Value: "shown"}, {Sensitive: true}},
		[]api.Input{{Value: `{"name": ["first-secret", "short"]}`, Sensitive: true}},
	)
	if want := []string{"a", `{"name": ["first-secret", "short"]}`, "first-secret"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if hostile := textsIn(strings.Repeat("[", 100<<10) + `"`); len(hostile) != 0 {
		t.Errorf("%d texts", len(hostile))
	}
}
