package agent_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/agenttest"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/shim"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

var acme = uuid.MustParse("11111111-2222-3333-4444-555555555555")

const key = "a key"

// secret is the value of the sensitive variable password that every run has.
const secret = "correct horse \"battery\" staple"

type oneKey struct{}

func (oneKey) Verify(_ context.Context, given auth.Credentials, from auth.Client) (auth.Principal, error) {
	if given != (auth.Credentials{Org: acme, Key: key}) {
		return auth.Principal{}, fault.New(fault.CredentialsWrong, "the organization or the key is wrong")
	}
	return auth.Principal{Org: acme, OrgName: "Acme", KeyID: "k1", KeyName: "ci", Grant: auth.Grant{Role: auth.Owner},
		Address: from.Address, Request: from.Request}, nil
}

// stateServer is a real server for states. A run's token there is whatever memory has given it:
// it stands for the organization's key.
func stateServer(t *testing.T) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States:    state.NewService(memory.New(1<<24), state.DefaultPolicies{}, time.Now, log),
		Inventory: inventory.NewService(inventorytest.New()),
		Verifier:  oneKey{}, Log: log, Now: time.Now, Version: "test", MaxStateBytes: 1 << 24,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, token, _ := r.BasicAuth(); user == "run" && token != "" {
			r.SetBasicAuth(acme.String(), key)
		}
		router.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// oneTool is a program that is there.
type oneTool struct{ name, version, path, digest string }

func (o oneTool) Find(_ context.Context, want api.Tool, _, _ string) (agent.Binary, error) {
	if want.Name != o.name || want.Version != "" && want.Version != o.version {
		return agent.Binary{}, fault.New(fault.RunInvalid, "there is no %s %s here", want.Name, want.Version)
	}
	return agent.Binary{Tool: api.Tool{Name: o.name, Version: o.version, Digest: o.digest, System: "linux_amd64"},
		Path: o.path}, nil
}

func (oneTool) Configuration(context.Context, agent.Binary, string, int, bool) (agent.ToolConfiguration, error) {
	return agent.ToolConfiguration{Text: "disable_checkpoint = true\n"}, nil
}

// realTool is a client that the scripts with real clients have built.
func realTool(t *testing.T, name, folder, binary, version string) oneTool {
	t.Helper()
	cache, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, ".cache", "holdfast", "clients", folder+"-"+version, binary)
	f, err := os.Open(path)
	if err != nil {
		t.Skip("there is no " + name + "; scripts/e2e.sh builds it")
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return oneTool{name, version, path, hex.EncodeToString(sum.Sum(nil))}
}

func tofu(t *testing.T) oneTool { return realTool(t, "opentofu", "opentofu", "tofu", "1.12.6") }

func terraform(t *testing.T) oneTool {
	return realTool(t, "terraform", "terraform", "terraform", "1.5.7")
}

// tarOf packs files, by path.
func tarOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var to bytes.Buffer
	out := tar.NewWriter(&to)
	for name, text := range files {
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)),
			Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

// TestMain is also the shims that tests start: they are processes of this binary.
func TestMain(m *testing.M) {
	if signal.Ignored(os.Interrupt) { // in the background of a shell; then scripts couldn't trap it
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	var err error
	switch {
	case len(os.Args) < 2:
		os.Exit(m.Run())
	case os.Args[1] == shim.Command:
		err = shim.Main()
	case os.Args[1] == shim.SandboxedCommand:
		err = sandbox.Enter()
	case os.Args[1] == childArg:
		err = runChild(os.Args[2:])
	case os.Args[1] != "version": // what the probe of the sandbox runs
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// rig is an executor with everything around it.
type rig struct {
	t        *testing.T
	server   *agenttest.Memory
	commands *plain
	settings agent.Settings
	stop     context.CancelFunc
	done     chan error
	executor *agent.Executor
	counted  int
}

// newRig returns one that has not begun.
func newRig(t *testing.T, tool oneTool, files map[string]string) *rig {
	t.Helper()
	work, err := os.MkdirTemp("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	server := agenttest.NewMemory()
	server.Template = api.Assignment{Org: acme.String(), Tool: api.Tool{Name: tool.name}, Timeout: 600, Grace: 60,
		MaxLogBytes: 1 << 20,
		Variables:   []api.Input{{Name: "password", Value: secret, Sensitive: true}}}
	server.Configuration = tarOf(t, files)
	commands := newPlain()
	return &rig{t: t, server: server, commands: commands, settings: agent.Settings{
		Server: server, PoolToken: server.PoolToken(), Work: work, Slots: 2, Address: stateServer(t), ClaimWait: 5,
		Presentation: api.AgentRegistration{Name: "test"}, Tools: tool, Commands: commands,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}}
}

// withShims has the rig's commands run under shims, in the sandbox.
func (r *rig) withShims() { r.withLimits(sandbox.Limits{}) }

// withLimits is withShims, and what the commands may use.
func (r *rig) withLimits(limits sandbox.Limits) {
	r.t.Helper()
	server, err := netip.ParseAddrPort(strings.TrimPrefix(r.settings.Address, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	commands, err := machine.NewCommands(r.t.Context(), machine.CommandSettings{Shims: true,
		Work: r.settings.Work, Limits: limits, Network: sandbox.Network{Allow: []netip.AddrPort{server}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.settings.Commands = commands
}

// start begins an executor, as after a start of its process.
func (r *rig) start() {
	r.t.Helper()
	executor, err := agent.New(r.settings)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.executor, r.stop, r.done = executor, stop, make(chan error, 1)
	go func() { r.done <- executor.Run(ctx) }()
	r.t.Cleanup(r.end)
}

// end has the executor leave, as if its process died in an orderly way.
func (r *rig) end() {
	r.t.Helper()
	if r.done == nil {
		return
	}
	r.stop()
	if err := <-r.done; err != nil {
		r.t.Error(err)
	}
	r.done = nil
}

// ended waits for the end of a run's stage.
func (r *rig) ended(run, stage string) (last api.PhaseReport) {
	r.t.Helper()
	r.await(run, "its "+stage+" ends", func() bool {
		for _, last = range r.server.Reports(run) {
			if last.Stage == stage && (last.Last || last.Outcome != "succeeded") {
				return true
			}
		}
		return false
	})
	return last
}

// cleared waits until there is no run folder left.
func (r *rig) cleared() {
	r.t.Helper()
	r.polled("the run folders are gone", func() bool {
		left, err := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*", "*"))
		return err == nil && len(left) == 0
	})
}

// appears waits for a file.
func (r *rig) appears(path string) {
	r.t.Helper()
	r.polled("there is "+path, func() bool { _, err := os.Stat(path); return err == nil })
}

// polled waits for what nobody tells.
func (r *rig) polled(what string, ready func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("it has not come about that " + what)
		}
	}
}
