package agent

import (
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/mask"
)

// What a configuration takes out of a sensitive list or object is as secret as all of it.
func TestTextsWithinSensitiveValuesAreMasked(t *testing.T) {
	a := api.Assignment{
		Token: "token-of-the-run",
		Variables: []api.Input{
			{Name: "a", HCL: true, Sensitive: true,
				Value: "{\n  user_name = \"first-secret\"\n  \"quoted_name\" = [\"second\\nsecret\", 12345678, " +
					"\"$${third}secret\"]\n}"},
			{Name: "b", Sensitive: true, Value: `{"private_key":"fourth-\u0073ecret","deep":{"x":["fifth-secret"]}}`},
			{Name: "c", HCL: true, Sensitive: true, Value: "[<<EOT\nsixth secret\nEOT\n]"},
			{Name: "d", HCL: true, Value: `["shown-value"]`},
		},
	}
	a.Environment, a.Words = []api.Input{{Name: "E", Sensitive: true, Value: "eu-west"}}, []string{"eu-west"}
	text := "eu-west first-secret second\nsecret 12345678 ${third}secret fourth-secret fifth-secret sixth secret user_name " +
		"quoted_name private_key shown-value"
	masked := string(mask.New(secrets(a)).Bytes([]byte(text)))
	if masked != "eu-west *** *** *** *** *** *** *** user_name quoted_name private_key shown-value" {
		t.Errorf("it is shown as %s", masked)
	}
}
