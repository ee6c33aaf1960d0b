package machine

import (
	"context"
	"os"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// findTerragrunt finds Terragrunt, and the tool that it calls: OpenTofu where a version of it fits
// the configuration, else Terraform. An apply gets both as its plan had them.
func (t Tools) findTerragrunt(ctx context.Context, want api.Tool, configuration,
	directory string) (agent.Binary, error) {
	root, err := os.OpenRoot(configuration)
	if err != nil {
		return agent.Binary{}, err
	}
	defer root.Close()
	choose := func(name tools.Name, constraint string) (tools.Tool, error) {
		found, err := t.Store.Resolve(ctx,
			tools.Want{Tool: name, Constraint: constraint, Files: root.FS(), Directory: directory})
		return found.Tool, err
	}
	var wrapper, called tools.Tool
	if want.Digest != "" && want.Calls != nil {
		if wrapper, err = t.Store.Open(ctx, tools.Terragrunt, want.Version); err == nil {
			called, err = t.Store.Open(ctx, tools.Name(want.Calls.Name), want.Calls.Version)
		}
	} else if wrapper, err = choose(tools.Terragrunt, want.Version); err == nil {
		if called, err = choose(tools.OpenTofu, ""); fault.Is(err, fault.ToolUnavailable) {
			if other, otherErr := choose(tools.Terraform, ""); otherErr == nil {
				called, err = other, nil
			}
		}
	}
	if err != nil {
		return agent.Binary{}, err
	}
	made, calls := binary(wrapper), binary(called)
	made.Calls, made.Read, made.Env = &calls.Tool, []string{calls.Path}, terragruntEnvironment(calls.Path)
	return made, nil
}

// terragruntEnvironment has Terragrunt call this program, ask nobody, run init only when it is told
// to, and print what the program prints as it is: the plan and its events are read by us. The older
// names are for versions before 0.73.
func terragruntEnvironment(program string) map[string]string {
	return map[string]string{
		"TG_TF_PATH": program, "TERRAGRUNT_TFPATH": program,
		"TG_NON_INTERACTIVE": "true", "TERRAGRUNT_NON_INTERACTIVE": "true",
		"TG_NO_AUTO_INIT": "true", "TERRAGRUNT_NO_AUTO_INIT": "true",
		"TG_TF_FORWARD_STDOUT": "true", "TERRAGRUNT_FORWARD_TF_STDOUT": "true",
		"TG_NO_COLOR": "true", "TG_LOG_DISABLE_COLOR": "true",
	}
}
