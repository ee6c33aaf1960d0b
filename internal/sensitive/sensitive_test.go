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
	key := `{"type": "service_account", "project_id": "acme-prod-1", "private_key": "-----BEGIN", ` +
		`"token_uri": "https://oauth2.example.com/token", "auth_uri": "https://u:password@example.com/"}`
	got = Values([]api.Input{{Value: key, Sensitive: true}})
	if want := []string{key, "acme-prod-1", "-----BEGIN", "https://u:password@example.com/"}; !slices.Equal(got, want) {
		t.Errorf("of a key file: %q, want %q", got, want)
	}
	for _, value := range []string{`[{type = "service_account"}, "second-secret"]`, `{"type":"service_account","token":["second-secret"]}`,
		`{"hook_uri":"second-secret"}`} {
		if got := textsIn(value); !slices.Equal(got, []string{"second-secret"}) {
			t.Errorf("%s: %q", value, got)
		}
	}
	if hostile := textsIn(strings.Repeat("[", 100<<10) + `"`); len(hostile) != 0 {
		t.Errorf("%d texts", len(hostile))
	}
}
