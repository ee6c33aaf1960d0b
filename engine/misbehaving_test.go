package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/builtin"
	"github.com/holdfast/holdfast/engine/statefile"
)

// odd is a provider of shapes whose calls can be made to answer something else.
type odd struct {
	*shapes
	plan  func(provider.PlanRequest, provider.PlanResult) provider.PlanResult
	apply func(provider.ApplyRequest, provider.Object, error) (provider.Object, error)
	stop  func() error
}

func (o *odd) Stop(context.Context) error {
	if o.stop == nil {
		return nil
	}
	return o.stop()
}

func (o *odd) Plan(ctx context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	result, err := o.shapes.Plan(ctx, r)
	if o.plan != nil && err == nil {
		result = o.plan(r, result)
	}
	return result, err
}

func (o *odd) Apply(ctx context.Context, r provider.ApplyRequest) (provider.Object, error) {
	made, err := o.shapes.Apply(ctx, r)
	if o.apply != nil {
		return o.apply(r, made, err)
	}
	return made, err
}

func newOddSite(t *testing.T, text string) (*site, *odd) {
	t.Helper()
	s, world := newShapeSite(t, text)
	o := &odd{shapes: world}
	s.options = func(options *engine.Options) {
		options.Registry = provider.NewRegistry(nil)
		options.Registry.Add(addr.BuiltIn(), builtin.New)
		options.Registry.Add(addr.Provider{Host: addr.DefaultHost, Namespace: "hashicorp", Name: "shape"},
			func(context.Context) (provider.Provider, error) { return o, nil })
	}
	return s, o
}

const shape = "resource \"shape_all\" \"a\" {\n  name = \"%s\"\n}\n"

func named(name string) string { return strings.Replace(shape, "%s", name, 1) }

// with is an object with another value of an attribute.
func with(object cty.Value, attribute string, value cty.Value) cty.Value {
	all := object.AsValueMap()
	all[attribute] = value
	return cty.ObjectVal(all)
}

// A provider that doesn't keep to what a provider promises is said to. What it told of an object is recorded, so that
// it isn't lost, and is replaced by the next apply.
func TestProvidersThatDoNotKeepTheirWordAreSaid(t *testing.T) {
	null := func(v cty.Value) provider.Object { return provider.Object{Value: cty.NullVal(v.Type())} }
	refused := &provider.Fault{Summary: "it was refused half-way", Code: 403}
	for want, c := range map[string]struct {
		apply    func(provider.ApplyRequest, provider.Object, error) (provider.Object, error)
		recorded int
	}{
		"returned no object": {func(r provider.ApplyRequest, _ provider.Object, _ error) (provider.Object, error) {
			return null(r.Planned), nil
		}, 0},
		"left values unknown": {func(r provider.ApplyRequest, _ provider.Object, _ error) (provider.Object, error) {
			return provider.Object{Value: r.Planned}, nil
		}, 1},
		"refused half-way": {func(r provider.ApplyRequest, _ provider.Object, _ error) (provider.Object, error) {
			return provider.Object{Value: r.Planned}, refused
		}, 1},
	} {
		s, o := newOddSite(t, named("a"))
		o.apply = c.apply
		result, err := s.applied(t)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if result == nil || len(result.State.Resources) != c.recorded {
			t.Fatalf("%s: the state has %+v", want, result)
		}
		if c.recorded > 0 && recordedShape(t, result).Status != statefile.Tainted {
			t.Errorf("%s: it isn't replaced: %+v", want, result.State.Resources)
		}
	}
}

func (s *site) applied(t *testing.T) (*apply.Result, error) {
	t.Helper()
	e, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Apply(context.Background(), p, apply.Options{})
}

// An object whose deletion the provider takes back stays recorded.
func TestObjectThatIsStillThereStaysRecorded(t *testing.T) {
	s, o := newOddSite(t, named("a"))
	if _, err := s.applied(t); err != nil {
		t.Fatal(err)
	}
	o.apply = func(r provider.ApplyRequest, _ provider.Object, _ error) (provider.Object, error) {
		return provider.Object{Value: r.Prior}, nil
	}
	s.write(t, "main.tf", "")
	result, err := s.applied(t)
	if err == nil || !strings.Contains(err.Error(), "still there") || len(result.State.Resources) != 1 {
		t.Errorf("%+v %v", result, err)
	}
}

// A plan that comes out otherwise once everything is known isn't done.
func TestPlanThatChangesIsNotDone(t *testing.T) {
	s, o := newOddSite(t, named("a"))
	e, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.plan = func(_ provider.PlanRequest, r provider.PlanResult) provider.PlanResult {
		r.Planned = with(r.Planned, "text", cty.StringVal("other"))
		return r
	}
	_, err = e.Apply(context.Background(), p, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "plans something else") || !strings.Contains(err.Error(), "text") ||
		len(o.objects) != 0 {
		t.Errorf("%v, %d objects", err, len(o.objects))
	}
	// Providers of before types had exact values may fill in what they like.
	s, o = newOddSite(t, named("a"))
	o.plan = func(r provider.PlanRequest, result provider.PlanResult) provider.PlanResult {
		result.Legacy = true
		return result
	}
	if e, p, err = s.plan(plan.Options{}); err != nil {
		t.Fatal(err)
	}
	o.plan = func(_ provider.PlanRequest, r provider.PlanResult) provider.PlanResult {
		r.Planned, r.Legacy = with(r.Planned, "text", cty.StringVal("filled in")), true
		return r
	}
	if _, err := e.Apply(context.Background(), p, apply.Options{}); err != nil {
		t.Error(err)
	}
}

// A plan of another type than the schema's is refused.
func TestPlanOfAnotherTypeIsRefused(t *testing.T) {
	s, o := newOddSite(t, named("a"))
	o.plan = func(_ provider.PlanRequest, r provider.PlanResult) provider.PlanResult {
		r.Planned = cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("x")})
		return r
	}
	_, _, err := s.plan(plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "doesn't fit its own schema") {
		t.Error(err)
	}
}

// A replacement that can't be made leaves the object before as the current one.
func TestFailedReplacementPutsTheOneBeforeBack(t *testing.T) {
	text := func(name string) string {
		return strings.Replace(named(name), "}\n", "  lifecycle {\n    create_before_destroy = true\n  }\n}\n", 1)
	}
	s, o := newOddSite(t, text("a"))
	if _, err := s.applied(t); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", text("b"))
	o.apply = func(r provider.ApplyRequest, _ provider.Object, _ error) (provider.Object, error) {
		return provider.Object{}, &provider.Fault{Summary: "no room", Code: 403}
	}
	before, err := s.applied(t)
	if err == nil {
		t.Fatal("it went well")
	}
	_, in := before.State.Find(addr.Resource{Type: "shape_all", Name: "a"}, "")
	if in == nil || in.Deposed != "" || in.Status != "" || !strings.Contains(string(in.Attributes), `"a"`) {
		t.Errorf("%+v", in)
	}
	o.apply = nil
	if _, err := s.applied(t); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
}

// A data source that depends on what isn't there yet is read when it is, and what it needs then has it.
func TestDataIsReadDuringTheApply(t *testing.T) {
	s, _ := newShapeSite(t, named("a")+`
data "shape_all" "unknown" {
  name = shape_all.a.id
}
data "shape_all" "waits" {
  name       = "fixed"
  depends_on = [shape_all.a]
}
data "shape_all" "waits_for_a_module" {
  name       = "fixed"
  depends_on = [module.m]
}
module "m" {
  source = "./m"
}
resource "shape_all" "user" {
  name = "user"
  text = "${data.shape_all.unknown.id}, ${data.shape_all.waits.id}, ${data.shape_all.waits_for_a_module.id}"
}
output "text" {
  value = shape_all.user.text
}
`)
	s.write(t, "m/main.tf", "resource \"shape_all\" \"inner\" {\n  name = \"inner\"\n}\n")
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, c := range p.Changes {
		if c.Action == plan.Read {
			reads++
		}
	}
	if said := show(t, p, plan.Colours{}); reads != 3 || !strings.Contains(said, "<= data.shape_all.unknown") {
		t.Errorf("%d data sources are read during the apply:\n%s", reads, said)
	}
	result, err := s.applied(t)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(result.State.Outputs["text"].Value); !strings.Contains(text, "data of shape-") ||
		strings.Count(text, "data of fixed") != 2 {
		t.Errorf("the data is %s", text)
	}
	s.settled(t)
}
