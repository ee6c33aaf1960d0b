package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDependentsOverModules: what depends on a resource is known over variables and outputs of
// modules, by the configuration, and by the prior state.
func TestDependentsOverModules(t *testing.T) {
	plan, err := ReadBytes([]byte(`{"format_version":"1.2","resource_changes":[],
"prior_state":{"values":{"root_module":{"child_modules":[{"resources":[
  {"address":"module.m[\"a.b\"].t_z.z[0]","depends_on":["t_a.a"]}]}]}}},
"configuration":{"root_module":{
 "resources":[{"address":"t_a.a","expressions":{}},
  {"address":"t_d.d","expressions":{"x":[{"y":{"references":["module.m.out","module.m"]}}]}},
  {"address":"t_e.e","expressions":{},"depends_on":["t_d.d"]}],
 "module_calls":{"m":{"expressions":{"in":{"references":["t_a.a.id","t_a.a"]}},"module":{
  "outputs":{"out":{"expression":{"references":["t_b.b.id","t_b.b"]}}},
  "resources":[{"address":"t_b.b","expressions":{"x":{"references":["var.in"]}}}]}}}}}}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string][]string{
		"t_a.a":          {"module.m.t_b.b", "module.m.t_z.z", "t_d.d", "t_e.e"},
		"module.m.t_b.b": {"t_d.d", "t_e.e"},
		"t_e.e":          nil,
	} {
		steps := maxSteps
		if got, n := plan.links.dependents(of, 10, &steps); !cmp.Equal(got, want) || n != len(want) {
			t.Errorf("on %s depend %v, %d", of, got, n)
		}
	}
	if got := configAddress(`module.m["a.b]\"[x"].t_z.z[0]`); got != "module.m.t_z.z" {
		t.Error(got)
	}
}
