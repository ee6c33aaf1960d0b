//go:build e2e

package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast/holdfast/internal/suite"
)

func TestMain(m *testing.M) {
	actAsShim()
	testscript.Main(m, map[string]func(){
		"hold": hold, "faketool": fakeTool, "age": decryptAge, "age-keygen": makeAgeKey,
	})
}

// testedClient is a program under test, by the name that conditions in scripts have, and as
// workspaces call it.
type testedClient struct{ name, binary, other, tool, version string }

var clients = []testedClient{
	{"tofu", "TOFU_BIN", "TERRAFORM_BIN", "opentofu", "1.12.6"},
	{"terraform", "TERRAFORM_BIN", "TOFU_BIN", "terraform", "1.5.7"},
}

// shortScripts are the scripts that `make test` runs, with OpenTofu: one of each thing that the product does.
var shortScripts = []string{
	"enclaves", "lifecycle", "lock_conflict", "projects", "runs", "runs_agent", "server_crash", "uploads",
}

// TestScripts runs each script of scripts/ once per client. It runs beside TestAttacks,
// since both wait a lot, and after what measures time and has the machine to itself.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client.name, func(t *testing.T) {
			if client.name != "tofu" {
				suite.Deep(t)
			}
			t.Parallel()
			params := client.scripts(t, "scripts")
			if testing.Short() {
				params.Dir = ""
				for _, name := range shortScripts {
					params.Files = append(params.Files, filepath.Join("scripts", name+".txtar"))
				}
			}
			testscript.Run(t, params)
		})
	}
}

// TestScriptsOnDatabases runs scripts, as they are, against servers that keep everything in a database.
func TestScriptsOnDatabases(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, func(t *testing.T, on databaseKind) {
		params := clients[0].scripts(t, "scripts")
		params.Dir = ""
		for _, name := range []string{"lifecycle", "lock_conflict", "runs", "runs_agent", "server_crash"} {
			params.Files = append(params.Files, filepath.Join("scripts", name+".txtar"))
		}
		settings := on.engines()
		usual := params.Setup
		params.Setup = func(env *testscript.Env) error {
			for _, setting := range append(settings, testDatabase(env.T().(testing.TB), on).environ()...) {
				name, value, _ := strings.Cut(setting, "=")
				env.Setenv(name, value)
			}
			return usual(env)
		}
		testscript.Run(t, params)
	})
}

// scripts returns how the scripts of a folder are run with a client.
func (c testedClient) scripts(t *testing.T, dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: setup(filepath.Dir(program(t, "HOLDFAST_BIN")), map[string]string{
			"TF": program(t, c.binary), "OTHER": os.Getenv(c.other), "TOOL": c.tool, "TOOL_VERSION": c.version,
		}),
		Cmds:                commands(),
		Condition:           func(name string) (bool, error) { return name == c.name, nil },
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	}
}

// TestPages runs the commands of the pages in docs/, by the scripts in scripts/pages/, with OpenTofu. TestDocs wants
// one for each page that has commands.
func TestPages(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	testscript.Run(t, clients[0].scripts(t, "scripts/pages"))
}

// TestAttacks runs each script of scripts/attacks/ once: they need no client.
func TestAttacks(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "scripts/attacks",
		Setup:               setup(filepath.Dir(program(t, "HOLDFAST_BIN")), nil),
		Cmds:                commands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// program returns the path that an environment variable of scripts/e2e.sh names.
func program(t *testing.T, variable string) string {
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s is not set: run scripts/e2e.sh", variable)
	}
	return path
}

// noPlugins keeps a client from fetching anything: most scripts use terraform_data only, which
// is built in. Those with providers of $PROVIDERS say so in a file of their own.
const noPlugins = "provider_installation {}\n"

// setup gives a script its variables, its folder's files, and a clean end.
func setup(bin string, client map[string]string) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		cliConfig := filepath.Join(env.WorkDir, ".cli.tfrc")
		if err := os.WriteFile(cliConfig, []byte(noPlugins), 0o600); err != nil {
			return err
		}
		for name, value := range map[string]string{
			"PROVIDERS":          os.Getenv("PROVIDERS_MIRROR"),
			"TERRAGRUNT":         os.Getenv("TERRAGRUNT_BIN"),
			"HOME":               env.WorkDir,
			"PATH":               bin + string(os.PathListSeparator) + env.Getenv("PATH"),
			"HOLDFAST_AUTH_FILE": filepath.Join(env.WorkDir, "auth.cfg"),
			"STORAGE_PATH":       filepath.Join(env.WorkDir, "data"),
			"CHECKPOINT_DISABLE": "1",
			"TF_CLI_CONFIG_FILE": cliConfig,
			"TF_CLI_ARGS":        "-no-color",
			"TF_IN_AUTOMATION":   "1",
			"TF_INPUT":           "0",
		} {
			env.Setenv(name, value)
		}
		for name, value := range client {
			env.Setenv(name, value)
		}
		w := newWorld(env)
		env.Values[worldKey{}] = w
		env.Defer(func() { w.end(env.T().(testing.TB)) })
		return nil
	}
}
