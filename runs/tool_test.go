package runs

import (
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// The plan file is compared with the tool that is called, so nothing else may be said to call one.
func TestOnlyTerragruntCallsATool(t *testing.T) {
	tofu := &api.Tool{Name: "opentofu", Version: "1.12.6"}
	for _, c := range []struct {
		tool *api.Tool
		code fault.Code
	}{
		{nil, ""}, {tofu, ""}, {&api.Tool{Name: "terragrunt", Calls: tofu}, ""},
		{&api.Tool{Name: "terraform", Calls: tofu}, fault.RunInvalid},
		{&api.Tool{Name: "opentofu", Calls: tofu}, fault.RunInvalid},
		{&api.Tool{Name: "terragrunt", Calls: &api.Tool{Name: "terragrunt", Calls: tofu}}, fault.RunInvalid},
		{&api.Tool{Name: "terragrunt", Calls: &api.Tool{Name: string(make([]byte, 300))}}, fault.RunInvalid},
	} {
		if err := checkTool(c.tool); (err == nil) != (c.code == "") || err != nil && !fault.Is(err, c.code) {
			t.Errorf("%+v: %v", c.tool, err)
		}
	}
}
