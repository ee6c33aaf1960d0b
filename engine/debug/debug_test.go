package debug_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/debug"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/drawing"
	"github.com/holdfast/holdfast/internal/graph"
)

func parsed(t *testing.T, resources string) *statefile.File {
	t.Helper()
	f, err := statefile.Parse([]byte(`{"version":4,"terraform_version":"1.5.7","serial":3,"lineage":"l","outputs":{},
"resources":[` + resources + `],"check_results":null}`))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func resource(typ, name, instances string) string {
	return `{"mode":"managed","type":"` + typ + `","name":"` + name +
		`","provider":"provider[\"registry.terraform.io/x/y\"]","instances":[` + instances + `]}`
}

func TestInspect(t *testing.T) {
	sound := parsed(t, resource("a_vpc", "main", `{"schema_version":0,"attributes":{"id":"v"}}`)+","+
		resource("a_subnet", "one", `{"index_key":0,"schema_version":1,"attributes":{"id":"s","password":"p"},
		"sensitive_attributes":[[{"type":"get_attr","value":"password"}]],"dependencies":["a_vpc.main"]}`))
	r := debug.Inspect(sound)
	if !r.IsValid || r.TotalResources != 2 || !cmp.Equal(r.ResourcesByType, map[string]int{"a_vpc": 1, "a_subnet": 1}) {
		t.Errorf("%+v", r)
	}
	broken := parsed(t, resource("a_vpc", "main", `{"schema_version":0,"attributes":{"id":"v"}},
		{"schema_version":0,"attributes":{"id":"w"}}`)+","+
		resource("a_vpc", "other", `{"schema_version":0,"status":"odd","attributes":{"id":"v"},"dependencies":["a_gone.x"],
		"sensitive_attributes":[[{"type":"get_attr","value":"nothing"}]]}`)+","+
		resource("a_list", "x", `{"schema_version":0,"attributes":[]}`)+","+resource("a_none", "x", ""))
	r = debug.Inspect(broken)
	want := debug.Report{Serial: 3, Lineage: "l", TotalResources: 4,
		ResourcesByType:    map[string]int{"a_vpc": 3, "a_list": 1},
		OrphanedResources:  []string{"a_vpc.other -> a_gone.x"},
		DuplicateAddresses: []string{"a_vpc.main"}, DuplicateIDs: []string{`a_vpc.main and a_vpc.other are both "v"`},
		ValidationErrors: []string{"a_list.x has attributes that are no object", "a_none.x has no instances",
			`a_vpc.other calls nothing sensitive, which it doesn't have`, `a_vpc.other has the status "odd"`}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func TestCompareNamesAttributesAndNoValues(t *testing.T) {
	a := parsed(t, resource("a_vpc", "main", `{"schema_version":0,"attributes":{"id":"v","secret":"hunter1","size":1}}`)+
		","+
		resource("a_old", "x", `{"schema_version":0,"attributes":{}}`)+","+
		resource("a_same", "x", `{"schema_version":0,"attributes":{"id":"s"}}`))
	b := parsed(t, resource("a_vpc", "main", `{"schema_version":0,"attributes":{ "id": "v","secret":"hunter2","tag":""}}`)+
		","+
		resource("a_new", "x", `{"index_key":"k","schema_version":0,"attributes":{}}`)+","+
		resource("a_same", "x", `{"schema_version":0,"attributes":{"id":"s"}}`))
	d := debug.Compare(a, b)
	want := debug.Difference{Added: []string{`a_new.x["k"]`}, Removed: []string{"a_old.x"}, Unchanged: 1,
		Modified: []debug.Modified{{Address: "a_vpc.main", AttributesChanged: []string{"secret", "size", "tag"}}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(d)
	if err != nil || bytes.Contains(text, []byte("hunter")) {
		t.Errorf("%s %v", text, err)
	}
}

func loaded(t *testing.T, files map[string]string) *config.Module {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestBlocksAreSeenThroughWhatIsBetween(t *testing.T) {
	g := plan.Blocks(loaded(t, map[string]string{"main.tf": `
resource "a_vpc" "main" {}
locals { vpc = a_vpc.main.id }
module "net" {
  source = "./net"
  vpc    = local.vpc
}
resource "a_host" "web" { subnet = module.net.subnet }
resource "a_host" "last" { depends_on = [module.net] }
resource "a_free" "x" { name = "a_vpc.main" }
`, "net/main.tf": `
variable "vpc" {}
resource "a_subnet" "one" { vpc = var.vpc }
resource "a_subnet" "two" {}
output "subnet" { value = a_subnet.one.id }
`}))
	for block, want := range map[string][]string{
		"a_vpc.main": nil, "a_free.x": nil, "module.net.a_subnet.one": {"a_vpc.main"}, "module.net.a_subnet.two": nil,
		"a_host.web": {"module.net.a_subnet.one"}, "a_host.last": {"module.net.a_subnet.one", "module.net.a_subnet.two"},
	} {
		if got := g.DependsOn(block); !slices.Equal(got, want) {
			t.Errorf("%s depends on %q, want %q", block, got, want)
		}
	}
	if g.Len() != 6 {
		t.Errorf("%q", g.Names())
	}
}

func TestPicturesShowCirclesInRed(t *testing.T) {
	g := plan.Blocks(loaded(t, map[string]string{"main.tf": `
resource "a_b" "one" { x = a_b.two.id }
resource "a_b" "two" { x = a_b.one.id }
resource "a_b" "out" { x = a_b.one.id }
`}))
	var dot, mermaid, svg bytes.Buffer
	if err := errors.Join(drawing.DOT(&dot, g), drawing.Mermaid(&mermaid, g), drawing.SVG(&svg, g)); err != nil {
		t.Fatal(err)
	}
	want := `digraph G {
  rankdir=TB;
  node [shape=box];
  "a_b.one" [color=red, penwidth=2];
  "a_b.out";
  "a_b.two" [color=red, penwidth=2];
  "a_b.two" -> "a_b.one" [color=red, penwidth=2];
  "a_b.one" -> "a_b.out";
  "a_b.one" -> "a_b.two" [color=red, penwidth=2];
}
`
	if diff := cmp.Diff(want, dot.String()); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"graph TD", "  a_b_one --> a_b_out;", `  click a_b_two callback "show_resource_details"`,
		"  linkStyle 0,2 stroke:red"} {
		if !strings.Contains(mermaid.String(), line) {
			t.Errorf("no %q in\n%s", line, &mermaid)
		}
	}
	if got := strings.Count(svg.String(), `stroke="red"`); got != 4 {
		t.Errorf("%d red lines and boxes, want 4:\n%s", got, &svg)
	}
}

// TestPicturesOfAnything draws random graphs with names that mean something in each language.
func TestPicturesOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching("[a-c\"<&\\\\\n]{0,4}"), 1, 8).Draw(t, "names")
		var g graph.Graph
		for range rapid.IntRange(0, 16).Draw(t, "edges") {
			g.Depend(rapid.SampledFrom(names).Draw(t, "from"), rapid.SampledFrom(names).Draw(t, "to"))
		}
		var dot, mermaid, svg bytes.Buffer
		if err := errors.Join(drawing.DOT(&dot, &g), drawing.Mermaid(&mermaid, &g), drawing.SVG(&svg, &g)); err != nil {
			t.Fatal(err)
		}
		boxes := 0
		d := xml.NewDecoder(&svg)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the picture is no XML: %v", err)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "rect" {
				boxes++
			}
		}
		if boxes != g.Len() {
			t.Fatalf("%d boxes for %d nodes", boxes, g.Len())
		}
		if (g.Cycle() == nil) != (len(g.Circles()) == 0) {
			t.Fatalf("Cycle finds %q, Circles %q", g.Cycle(), g.Circles())
		}
	})
}

func TestReportForPeople(t *testing.T) {
	r := debug.Inspect(parsed(t, resource("a_vpc", "b", `{"schema_version":0,"attributes":{},"dependencies":["<b>\\u001b[2J"]}`)))
	if r.IsValid {
		t.Errorf("%+v", r)
	}
	var text, page bytes.Buffer
	if err := errors.Join(r.Text(&text, "x.tfstate"), r.HTML(&page, "<x>")); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text.String(), "State File: x.tfstate\n") || strings.Contains(page.String(), "<b>") ||
		strings.Contains(text.String(), "\x1b") {
		t.Errorf("%s\n%s", &text, &page)
	}
}
