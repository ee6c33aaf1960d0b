package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
)

// cached is a tool whose configuration has a cache of providers.
type cached struct {
	oneTool
	cache string
}

func (c cached) Configuration(_ context.Context, _ agent.Binary, _ string, _ int,
	shares bool) (agent.ToolConfiguration, error) {
	if !shares {
		return agent.ToolConfiguration{Text: "\n"}, nil
	}
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

// Vulnerability: OpenTofu runs the key providers of an encryption block while it initializes, so that a
// configuration plants what the next run executes; and git, which fetches modules there, runs what its environment
// names. Check: such a run has no cache.
func TestInitThatExecutesHasNoCache(t *testing.T) {
	const external = `terraform { encryption { key_provider "external" "k" { command = ["x"] } } }`
	for name, c := range map[string]struct {
		files map[string]string
		env   string
		may   bool
	}{
		"none":            {files: map[string]string{"main.tf": `resource "a" "b" { server_side_encryption_configuration {} }`}, may: true},
		"a block":         {files: map[string]string{"main.tf": external}},
		"of OpenTofu's":   {files: map[string]string{"main.tofu": external}},
		"JSON":            {files: map[string]string{"main.tf.json": `{"terraform":{"encryption":{}}}`}},
		"escaped JSON":    {files: map[string]string{"main.tf.json": `{"terraform":{"\u0065ncryption":{}}}`}},
		"the environment": {files: map[string]string{"main.tf": ""}, env: "TF_ENCRYPTION"},
		"another one":     {files: map[string]string{"main.tf": ""}, env: "TF_LOG_CORE", may: true},
		"a cloud's key":   {files: map[string]string{"main.tf": ""}, env: "AWS_SECRET_ACCESS_KEY", may: true},
		// What fetches modules and providers executes what these name, or believes whom they name.
		"git's ssh":         {files: map[string]string{"main.tf": ""}, env: "GIT_SSH_COMMAND"},
		"git's settings":    {files: map[string]string{"main.tf": ""}, env: "git_config_count"},
		"ssh's":             {files: map[string]string{"main.tf": ""}, env: "SSH_ASKPASS"},
		"Mercurial's":       {files: map[string]string{"main.tf": ""}, env: "HGRCPATH"},
		"Python's":          {files: map[string]string{"main.tf": ""}, env: "PYTHONPATH"},
		"OpenSSL's":         {files: map[string]string{"main.tf": ""}, env: "OPENSSL_CONF"},
		"credential's":      {files: map[string]string{"main.tf": ""}, env: "AWS_CONFIG_FILE"},
		"certificates":      {files: map[string]string{"main.tf": ""}, env: "SSL_CERT_FILE"},
		"a proxy":           {files: map[string]string{"main.tf": ""}, env: "https_proxy"},
		"registries' names": {files: map[string]string{"main.tf": ""}, env: "HOSTALIASES"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var env []api.Input
			if c.env != "" {
				env = append(env, api.Input{Name: c.env, Value: "x"})
			}
			if got := agent.ExecutesInInit(root, root, env); got == c.may {
				t.Errorf("that its init executes code is %v", got)
			}
		})
	}
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "main.tf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !agent.ExecutesInInit(root, root, nil) {
		t.Error("a pipe is read")
	}
}

// The run of such a configuration as a whole.
func TestEncryptedConfigurationHasNoCache(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	cache := t.TempDir()
	r.settings.Tools = cached{r.settings.Tools.(oneTool), cache}
	r.server.Configuration = tarOf(t, map[string]string{"main.tf": "terraform { encryption {} }\n"})
	r.start()
	r.ended(r.server.Queue("prod/network", "plan"), "plan")
	if slices.Contains(r.commands.write["init"], cache) {
		t.Error("init may write into the cache")
	}
}

// The same where there is a sandbox; a real tool plans and applies with such a cache.
func TestCacheIsReadOnlyInTheSandbox(t *testing.T) {
	suite.Deep(t)
	cache := t.TempDir()
	r, _ := scripted(t, scriptTool{init: "echo v1 > " + cache + "/provider", plan: "echo evil > " + cache +
		"/provider; cat " + cache + "/provider"})
	r.settings.Tools = cached{r.settings.Tools.(oneTool), cache}
	r.withShims()
	if r.settings.Commands.Sandbox().Level == "none" {
		t.Skip("there is no sandbox here")
	}
	r.start()
	run := r.server.Queue("prod/network", "apply")
	r.ended(run, "plan")
	if raw, err := os.ReadFile(filepath.Join(cache, "provider")); err != nil || string(raw) != "v1\n" ||
		!strings.Contains(r.server.Log(run, "plan"), "v1\n") {
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
		"changed": "echo other >> .terraform.lock.hcl", "removed": "rm .terraform.lock.hcl",
		"replaced": "rm .terraform.lock.hcl; mkdir x; echo y > .terraform.lock.hcl",
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
			if last := r.ended(run, "plan"); last.Outcome != "failed" ||
				!strings.Contains(last.Message, ".terraform.lock.hcl") || r.server.Artefact(run, "lock_file") != nil {
				t.Errorf("the plan ends with %+v", last)
			}
		})
	}
}

// Vulnerability: git takes settings, and so commands, from the repository that it is called in, and it is called in the
// configuration's folder. Check: a configuration that is in one, or is one, has no cache.
func TestInitInARepositoryHasNoCache(t *testing.T) {
	for name, may := range map[string]bool{".git": false, "HEAD": false, ".hg": false, "prod/.git": false,
		"prod/HEAD": false, "other/.git": true, "main.tf": true} {
		root := t.TempDir()
		for _, folder := range []string{"prod", "other"} {
			if err := os.Mkdir(filepath.Join(root, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte("[core]"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := agent.ExecutesInInit(root, filepath.Join(root, "prod"), nil); got == may {
			t.Errorf("%s: that its init executes code is %v", name, got)
		}
	}
}
