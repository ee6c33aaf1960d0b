package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent"
)

// cached is a tool whose configuration has a cache of providers.
type cached struct {
	oneTool
	cache string
}

func (c cached) Configuration(context.Context, agent.Binary, string, int) (agent.ToolConfiguration, error) {
	return agent.ToolConfiguration{Text: "plugin_cache_dir = \"" + c.cache + "\"\n", Cache: []string{c.cache}}, nil
}

// Vulnerability: what a plan writes into the cache of providers is executed by the next run, of another
// workspace. Check: only init may write there.
func TestPlanWritesNotIntoTheCache(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	cache := t.TempDir()
	r.settings.Tools = cached{r.settings.Tools.(oneTool), cache}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	r.end() // what its init made is not there any more
	r.start()
	r.server.Approve(run)
	r.ended(run, "apply")
	for _, command := range []string{"init", "plan", "show", "apply", "output"} {
		if may := slices.Contains(r.commands.write[command], cache); may != (command == "init") {
			t.Errorf("that %s may write into the cache is %v", command, may)
		}
	}
}

// The same where there is a sandbox; a real tool plans and applies with such a cache.
func TestCacheIsReadOnlyInTheSandbox(t *testing.T) {
	cache := t.TempDir()
	r, _ := scripted(t, scriptTool{init: "echo v1 > " + cache + "/provider", plan: "echo evil > " + cache + "/provider; cat " + cache + "/provider"})
	r.settings.Tools = cached{r.settings.Tools.(oneTool), cache}
	r.withShims()
	if r.settings.Commands.Sandbox().Level == "none" {
		t.Skip("there is no sandbox here")
	}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	if raw, err := os.ReadFile(filepath.Join(cache, "provider")); err != nil || string(raw) != "v1\n" || !strings.Contains(r.server.Log(run, "plan"), "v1\n") {
		t.Errorf("the cache has %q, %v\n%s", raw, err, r.server.Log(run, "plan"))
	}
	real := newRig(t, tofu(t), map[string]string{"main.tf": "resource \"terraform_data\" \"one\" {}\n"})
	real.settings.Tools = cached{real.settings.Tools.(oneTool), cache}
	real.withShims()
	real.start()
	run = real.server.Queue("prod/network", "apply")
	real.ended(run, "plan")
	real.server.Approve(run)
	if last := real.ended(run, "apply"); last.Outcome != "succeeded" {
		t.Errorf("the apply ends with %+v\n%s", last, real.server.Log(run, "apply"))
	}
}

// Vulnerability: a plan writes another lock file, by which its apply takes other providers than the plan
// had. Check: such a plan is refused, also where its executor was replaced.
func TestPlanChangesNoLockFile(t *testing.T) {
	for name, plan := range map[string]string{
		"made":    `rm .terraform.lock.hcl; echo "# evil" > .terraform.lock.hcl`,
		"changed": "echo other >> .terraform.lock.hcl", "removed": "rm .terraform.lock.hcl", "replaced": "rm .terraform.lock.hcl; mkdir x; echo y > .terraform.lock.hcl",
	} {
		t.Run(name, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			r, _ := scripted(t, scriptTool{init: "echo locked > .terraform.lock.hcl", plan: plan + "; " + until(gate)})
			r.start()
			run := r.server.Queue("prod/network", "apply")
			r.logged(run, "plan", "begun")
			r.end()
			r.start()
			touch(t, gate)
			if last := r.ended(run, "plan"); last.Outcome != "failed" || !strings.Contains(last.Message, ".terraform.lock.hcl") || r.server.Artefact(run, "lock_file") != nil {
				t.Errorf("the plan ends with %+v", last)
			}
		})
	}
}
