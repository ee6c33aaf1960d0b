package plugin_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/plugin"
)

// program writes a program that is this test's with a protocol.
func program(t *testing.T, path, protocol string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\n" + protocolVariable + "=" + protocol + " exec '" + self + "'\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func started(t *testing.T, protocol string) provider.Provider {
	t.Helper()
	p, err := plugin.Start(t.Context(), program(t, filepath.Join(t.TempDir(), "program"), protocol))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func thing(name string) cty.Value {
	part := cty.ObjectVal(map[string]cty.Value{"size": cty.NumberIntVal(3)})
	return cty.ObjectVal(map[string]cty.Value{"id": cty.NullVal(cty.String), "name": cty.StringVal(name),
		"secret": cty.NullVal(cty.String), "part": cty.ListVal([]cty.Value{part})})
}

// Both versions of the protocol say the same of a provider, and drive it alike.
func TestProgramIsDriven(t *testing.T) {
	for _, protocol := range []string{"5", "6"} {
		t.Run(protocol, func(t *testing.T) {
			p := started(t, protocol)
			wantSchemas(t, p, protocol)
			token := cty.ObjectVal(map[string]cty.Value{"token": cty.StringVal("x")})
			if err := p.Configure(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			wantLife(t, p)
			wantFaults(t, p)
			if err := p.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "can't be stopped") {
				t.Errorf("stop says %v", err)
			}
		})
	}
}

func wantSchemas(t *testing.T, p provider.Provider, protocol string) {
	t.Helper()
	s, err := p.Schemas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Schemas(t.Context())
	if err != nil || again != s {
		t.Errorf("the schemas aren't kept: %v", err)
	}
	thing := s.Of(provider.Managed, "t_thing")
	if !s.PlansDestroy || thing == nil || s.Of(provider.Data, "t_thing") == nil || s.Of(provider.Data, "x") != nil {
		t.Fatalf("%+v", s)
	}
	secret := thing.Attributes["secret"]
	if thing.Version != 3 || !secret.Sensitive || !secret.WriteOnly || !secret.Optional ||
		!thing.Attributes["id"].Computed || !thing.CtyType().Equals(thingType()) {
		t.Errorf("%+v", thing)
	}
	if nested := thing.Attributes["part"]; (protocol == "6") != (nested != nil && nested.Nested != nil) {
		t.Errorf("part is %+v", nested)
	}
	if block := thing.Blocks["part"]; (protocol == "5") != (block != nil && block.Max == 2) {
		t.Errorf("part is %+v", block)
	}
}

// wantLife has an object planned, made, read, upgraded, imported and deleted.
func wantLife(t *testing.T, p provider.Provider) {
	t.Helper()
	ctx, null := t.Context(), cty.NullVal(thingType())
	plan, err := p.Plan(ctx, provider.PlanRequest{Type: "t_thing", Prior: null, Proposed: thing("a"), Config: thing("a")})
	if err != nil || plan.Planned.GetAttr("id").IsKnown() || string(plan.Private) != "planned" || plan.Legacy ||
		len(plan.RequiresReplace) != 1 || !plan.RequiresReplace[0].Equals(cty.GetAttrPath("name")) {
		t.Fatalf("%+v %v", plan, err)
	}
	made, err := p.Apply(ctx, provider.ApplyRequest{Type: "t_thing", Prior: null, Planned: plan.Planned,
		Config: thing("a"), Private: plan.Private})
	if err != nil || made.Value.GetAttr("id").AsString() != "id of a" || string(made.Private) != "planned" {
		t.Fatalf("%+v %v", made, err)
	}
	now, err := p.Read(ctx, provider.ReadRequest{Type: "t_thing", Object: made})
	if err != nil || !now.Value.RawEquals(made.Value) || string(now.Private) != "planned!" {
		t.Errorf("%+v %v", now, err)
	}
	gone, err := p.Read(ctx, provider.ReadRequest{Type: "t_thing", Object: provider.Object{Value: thing("gone")}})
	if err != nil || !gone.Value.IsNull() {
		t.Errorf("%+v %v", gone, err)
	}
	old := `{"id": "1", "name": "old", "secret": null, "part": []}`
	if v, err := p.Upgrade(ctx, "t_thing", 1, []byte(old)); err != nil || v.GetAttr("name").AsString() != "old" {
		t.Errorf("%#v %v", v, err)
	}
	if o, err := p.Import(ctx, "t_thing", "x"); err != nil || o.Value.GetAttr("id").AsString() != "x" ||
		string(o.Private) != "kept" {
		t.Errorf("%+v %v", o, err)
	}
	if v, err := p.ReadData(ctx, "t_thing", thing("d")); err != nil || v.GetAttr("id").AsString() != "read" {
		t.Errorf("%#v %v", v, err)
	}
	deleted, err := p.Apply(ctx, provider.ApplyRequest{Type: "t_thing", Prior: made.Value, Planned: null, Config: null})
	if err != nil || !deleted.Value.IsNull() {
		t.Errorf("%+v %v", deleted, err)
	}
}

// wantFaults has each call fail, and say what the provider said and where.
func wantFaults(t *testing.T, p provider.Provider) {
	t.Helper()
	ctx, bad := t.Context(), thing("wrong")
	token := func(text string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"token": cty.StringVal(text)}) }
	calls := map[string]func() error{
		"configure": func() error { return p.Configure(ctx, token("refused")) },
		"prepare":   func() error { return p.Configure(ctx, token("wrong")) },
		"validate":  func() error { return p.ValidateResource(ctx, provider.Managed, "t_thing", bad) },
		"validate data": func() error {
			return p.ValidateResource(ctx, provider.Data, "t_thing", bad)
		},
		"upgrade": func() error { _, err := p.Upgrade(ctx, "t_thing", 0, []byte(`{}`)); return err },
		"read": func() error {
			_, err := p.Read(ctx, provider.ReadRequest{Type: "t_thing", Object: provider.Object{Value: bad}})
			return err
		},
		"plan": func() error {
			_, err := p.Plan(ctx, provider.PlanRequest{Type: "t_thing", Prior: cty.NullVal(thingType()), Proposed: bad,
				Config: bad})
			return err
		},
		"import": func() error { _, err := p.Import(ctx, "t_thing", "wrong"); return err },
		"data":   func() error { _, err := p.ReadData(ctx, "t_thing", bad); return err },
	}
	for name, call := range calls {
		err := call()
		var fault *provider.Fault
		if !errors.As(err, &fault) || fault.Transient || !strings.Contains(err.Error(),
			`It is wrong: at part[1]["k"]: because`) || !strings.Contains(err.Error(), "And more: of it") {
			t.Errorf("%s says %v", name, err)
		}
	}
	// A create that fails half-way says what there is.
	half, err := p.Apply(ctx, provider.ApplyRequest{Type: "t_thing", Prior: cty.NullVal(thingType()), Planned: bad,
		Config: bad})
	if err == nil || half.Value.GetAttr("id").AsString() != "id of wrong" {
		t.Errorf("%+v %v", half, err)
	}
	if _, err := p.Import(ctx, "t_thing", "none"); err == nil || !strings.Contains(err.Error(), "nothing to import") {
		t.Errorf("import says %v", err)
	}
	if _, err := p.ReadData(ctx, "t_other", bad); err == nil || !strings.Contains(err.Error(), "no type") {
		t.Errorf("a type that isn't there: %v", err)
	}
	if err := p.ValidateResource(ctx, provider.Managed, "t_thing", cty.StringVal("x")); err == nil {
		t.Error("a value that doesn't fit is sent")
	}
}

func TestCrashIsShownWithTheProvidersLog(t *testing.T) {
	p := started(t, "6")
	_, err := p.Plan(t.Context(), provider.PlanRequest{Type: "t_thing", Prior: cty.NullVal(thingType()),
		Proposed: thing("crash"), Config: thing("crash")})
	if err == nil || !strings.Contains(err.Error(), "crashed during PlanResourceChange") ||
		!strings.Contains(err.Error(), "the provider has a bug") {
		t.Errorf("it says %v", err)
	}
}

// What a provider logs stands in the log of the operation that it works for.
func TestProvidersLinesHaveTheirOperation(t *testing.T) {
	var out safeBuffer
	ctx := oplog.Begin(t.Context(), oplog.New(&out, slog.LevelDebug, false))
	_, err := plugin.Start(ctx, program(t, filepath.Join(t.TempDir(), "program"), "broken"))
	if err == nil {
		t.Fatal("a broken provider was started")
	}
	for _, want := range []string{"a provider is started", "the disk of this provider is broken"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log doesn't say %q:\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, "["+oplog.ID(ctx)+"] DEBUG engine.provider: ") {
			t.Errorf("the line %s has no operation", line)
		}
	}
}

// safeBuffer is a buffer that several may write to.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestProgramThatIsNoProviderIsSaid(t *testing.T) {
	for protocol, want := range map[string]string{"broken": "the disk of this provider is broken", "4": "doesn't start"} {
		_, err := plugin.Start(t.Context(), program(t, filepath.Join(t.TempDir(), "program"), protocol))
		if err == nil || !strings.Contains(err.Error(), "doesn't start") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	if _, err := plugin.Start(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a program that isn't there was started")
	}
}

func TestNewestAllowedVersionIsChosen(t *testing.T) {
	mirror, p := t.TempDir(), addr.Provider{Host: "example.com", Namespace: "acme", Name: "t"}
	for _, version := range []string{"1.0.0", "1.10.0", "1.9.0", "2.0.0-beta1", "nonsense"} {
		program(t, filepath.Join(mirror, "example.com/acme/t", version, runtime.GOOS+"_"+runtime.GOARCH,
			"terraform-provider-t_v"+version), "6")
	}
	program(t, filepath.Join(mirror, "example.com/acme/t/3.0.0/plan9_mips/terraform-provider-t"), "6")
	for _, c := range []struct{ constraint, want string }{{"", "1.10.0"}, {"~> 1.9.0", "1.9.0"}, {"< 1.9", "1.0.0"},
		{"2.0.0-beta1", "2.0.0-beta1"}, {"> 2", "is allowed by > 2"}, {"what", "says nothing about versions"}} {
		var constraints []string
		if c.constraint != "" {
			constraints = append(constraints, c.constraint)
		}
		got, err := plugin.Choose([]string{mirror, filepath.Join(mirror, "none")}, p, constraints)
		if got.Version != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %s %v, want %s", c.constraint, got.Version, err, c.want)
		}
	}
	p.Name = "other"
	_, err := plugin.Choose([]string{mirror}, p, nil)
	if err == nil || !strings.Contains(err.Error(), "isn't in any mirror") {
		t.Error(err)
	}
}

func TestLockFileHoldsWhatWasChosen(t *testing.T) {
	mirror, p := t.TempDir(), addr.Provider{Host: "example.com", Namespace: "acme", Name: "t"}
	path := program(t, filepath.Join(mirror, "example.com/acme/t/1.0.0", runtime.GOOS+"_"+runtime.GOARCH,
		"terraform-provider-t"), "6")
	chosen, err := plugin.Choose([]string{mirror}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := chosen.Hash()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), plugin.LockFile)
	if none, err := plugin.ReadLocks(file); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	locked := plugin.Locked{Source: p.String(), Version: "1.0.0", Constraints: ">= 1.0.0", Hashes: []string{hash}}
	if err := plugin.WriteLocks(file, map[addr.Provider]plugin.Locked{p: locked}); err != nil {
		t.Fatal(err)
	}
	read, err := plugin.ReadLocks(file)
	if err != nil || read[p].Constraints != ">= 1.0.0" {
		t.Fatalf("%v %v", read, err)
	}
	if err := chosen.Check(read[p]); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("another program"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := chosen.Check(read[p]); err == nil || !strings.Contains(err.Error(), "aren't those") {
		t.Errorf("a program that was changed is taken: %v", err)
	}
	if err := chosen.Check(plugin.Locked{Hashes: []string{"zh:abc"}}); err != nil {
		t.Errorf("hashes of archives can't be compared: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := chosen.Factory()(t.Context()); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("a program that is gone: %v", err)
	}
	for _, text := range []string{"provider {", "provider \"a/b/c/d\" {\n version = \"1\"\n}\n", "other {}\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := plugin.ReadLocks(file); err == nil {
			t.Errorf("%q is taken for a lock file", text)
		}
	}
}
