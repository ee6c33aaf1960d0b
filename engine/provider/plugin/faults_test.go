package plugin_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/plugin"
)

// running is a provider that runs already, in this process, and where it listens.
func running(t *testing.T, protocol int) net.Addr {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reattach, closed := make(chan *goplugin.ReattachConfig, 1), make(chan struct{})
	go goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{MagicCookieKey: "x", MagicCookieValue: "y"},
		VersionedPlugins: map[int]goplugin.PluginSet{protocol: {"provider": served{protocol: protocol}}},
		GRPCServer:       goplugin.DefaultGRPCServer,
		Logger:           hclog.NewNullLogger(),
		Test:             &goplugin.ServeTestConfig{Context: ctx, ReattachConfigCh: reattach, CloseCh: closed},
	})
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	return (<-reattach).Addr
}

// A provider that runs already is used as one that is started is, and goes on running afterwards.
func TestRunningProviderIsUsed(t *testing.T) {
	at := running(t, 6)
	for range 2 {
		p, err := plugin.Reattach(t.Context(), at, os.Getpid(), 6)
		if err != nil {
			t.Fatal(err)
		}
		made, err := p.Apply(t.Context(), provider.ApplyRequest{Type: "t_thing", Prior: cty.NullVal(thingType()),
			Planned: thing("a"), Config: thing("a")})
		if err != nil || made.Value.GetAttr("id").AsString() != "id of a" {
			t.Errorf("%+v %v", made, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := plugin.Reattach(t.Context(), at, os.Getpid(), 4); err == nil ||
		!strings.Contains(err.Error(), "speaks version 4") {
		t.Errorf("another version of the protocol: %v", err)
	}
}

// What doesn't fit a type is not sent, whatever is asked, and of what the provider doesn't have it is said so.
func TestValuesThatDoNotFitAreNotSent(t *testing.T) {
	p, ctx, odd := started(t, "6"), t.Context(), cty.StringVal("x")
	for _, name := range []string{"t_thing", "t_none"} {
		for call, err := range map[string]error{
			"configure": p.Configure(ctx, odd),
			"read":      second(p.Read(ctx, provider.ReadRequest{Type: name, Object: provider.Object{Value: odd}})),
			"plan":      second(p.Plan(ctx, provider.PlanRequest{Type: name, Prior: odd, Proposed: odd, Config: odd})),
			"apply":     second(p.Apply(ctx, provider.ApplyRequest{Type: name, Prior: odd, Planned: odd, Config: odd})),
			"data":      second(p.ReadData(ctx, name, odd)),
		} {
			if err == nil {
				t.Errorf("%s of %s sends a text for an object", call, name)
			}
		}
	}
	for call, err := range map[string]error{
		"validate": p.ValidateResource(ctx, provider.Managed, "t_none", thing("a")),
		"upgrade":  second(p.Upgrade(ctx, "t_none", 1, []byte("{}"))),
		"import":   second(p.Import(ctx, "t_none", "x")),
	} {
		if err == nil || !strings.Contains(err.Error(), "no type") {
			t.Errorf("%s of a type that isn't there: %v", call, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A call that nobody waits for any more ends with the caller's reason, not as a fault of the provider's.
func TestCallsEndWithTheirContext(t *testing.T) {
	p := started(t, "5")
	if _, err := p.Schemas(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]error{
		"configure": p.Configure(ctx, cty.ObjectVal(map[string]cty.Value{"token": cty.NullVal(cty.String)})),
		"validate":  p.ValidateResource(ctx, provider.Managed, "t_thing", thing("a")),
		"upgrade":   second(p.Upgrade(ctx, "t_thing", 1, []byte("{}"))),
		"stop":      p.Stop(ctx),
	}
	for call, err := range calls {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", call, err)
		}
	}
	fresh := started(t, "6")
	if _, err := fresh.Schemas(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("schemas: %v", err)
	}
}

// Providers are asked for what is worth reading, and for more by the environment.
func TestProvidersLogWhatTheyAreAskedFor(t *testing.T) {
	path := program(t, filepath.Join(t.TempDir(), "program"), "broken")
	for _, want := range []string{"INFO", "TRACE"} {
		if _, err := plugin.Start(t.Context(), path); err == nil || !strings.Contains(err.Error(), "it logs "+want) {
			t.Errorf("%v, want %s", err, want)
		}
		t.Setenv("TF_LOG_PROVIDER", "TRACE")
	}
}

// A program that goes away after it was found is missed by its name.
func TestMissingProgramIsNamed(t *testing.T) {
	mirror := t.TempDir()
	path := program(t, filepath.Join(mirror, "example.com", "acme", "t", "1.0.0", platform(), "terraform-provider-t"), "6")
	found, err := plugin.Choose([]string{mirror}, acme(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := found.Factory()(t.Context()); err == nil || !strings.Contains(err.Error(), "is gone from") {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := found.Factory()(t.Context()); err == nil || !strings.Contains(err.Error(), "is gone from") {
		t.Error(err)
	}
	if _, err := plugin.Choose([]string{mirror}, acme(), []string{"newest"}); err == nil ||
		!strings.Contains(err.Error(), "says nothing about versions") {
		t.Error(err)
	}
}

func acme() addr.Provider { return addr.Provider{Host: "example.com", Namespace: "acme", Name: "t"} }

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
