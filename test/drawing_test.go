package test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const drawingPage = "docs/architecture.md"

var (
	drawnNode = regexp.MustCompile(`^(\w+)\["([a-z0-9/]+)(?:<br/>[^"]*)?"\]$`)
	drawnUse  = regexp.MustCompile(`^(\w+) --> (\w+(?: & \w+)*)$`)
	drawnCall = regexp.MustCompile(`^(\w+) -\. "(\w+)" \.-> (\w+(?: & \w+)*)$`)
)

// arrow goes from one package to another. One that is drawn with dots has the name of the
// interface through which the first calls the second.
type arrow struct{ from, to, through string }

// drawing is what the page's Mermaid says.
type drawing struct {
	packages map[string]string // by what the drawing calls them
	arrows   []arrow
	unread   []string // lines that this test does not understand
}

// TestDrawingIsTrue holds the drawing of a request's way against the imports: a full arrow
// is an import, an import is an arrow or a way along arrows, and an arrow with dots leads
// to a package that imports where it begins, and is called through an interface there.
func TestDrawingIsTrue(t *testing.T) {
	d := readDrawing(fileText(t, drawingPage))
	if len(d.packages) < 5 || len(d.arrows) < 5 {
		t.Fatalf("%s has a drawing with these packages only: %v", drawingPage, d.packages)
	}
	known := func(folder, name string) bool { return hasInterface(t, folder, name) }
	for _, fault := range d.faults(imports(t), known) {
		t.Errorf("%s: %s", drawingPage, fault)
	}
}

// TestDrawingIsHeld shows that the test above notices what is wrong with a drawing.
func TestDrawingIsHeld(t *testing.T) {
	rules := []string{module + "rules"}
	imports := map[string][]string{"cmd": {module + "web", module + "store"}, "web": rules, "store": rules, "rules": {}}
	const nodes = "```mermaid\nflowchart TD\n" +
		"    c[\"cmd\"]\n    w[\"web<br/>what people see\"]\n    s[\"store\"]\n    r[\"rules\"]\n"
	const arrows = "    c --> w & s\n    w --> r\n    s --> r\n"
	for name, test := range map[string]struct{ drawn, want string }{
		"true":            {nodes + arrows + "    r -. \"Store\" .-> s\n", ""},
		"implied":         {nodes + "    c --> w & s\n    s --> r\n    w --> r\n", ""},
		"no import":       {nodes + arrows + "    w --> s\n", "web does not import store: take out the arrow"},
		"no arrow":        {nodes + "    c --> w & s\n    w --> r\n", "store imports rules: draw s --> r"},
		"no package":      {nodes + "    g[\"gone\"]\n" + arrows, "there is no package gone: rename it or take it out"},
		"unknown":         {nodes + arrows + "    c --> x\n", "x is not declared"},
		"not called back": {nodes + arrows + "    s -. \"Store\" .-> w\n", "web does not import store, so it can't"},
		"no interface":    {nodes + arrows + "    r -. \"Shop\" .-> s\n", "rules has no interface Shop"},
		"not understood":  {nodes + arrows + "    c ==> w\n", "can't be read: c ==> w"},
	} {
		t.Run(name, func(t *testing.T) {
			known := func(_, name string) bool { return name == "Store" }
			faults := readDrawing(test.drawn+"```\n").faults(imports, known)
			if got := strings.Join(faults, "\n"); test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func readDrawing(page string) drawing {
	d := drawing{packages: map[string]string{}}
	_, rest, _ := strings.Cut(page, "```mermaid\n")
	text, _, _ := strings.Cut(rest, "```\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		word, _, _ := strings.Cut(line, " ")
		switch {
		case slices.Contains([]string{"", "%%", "flowchart", "subgraph", "end", "direction"}, word):
		case drawnNode.MatchString(line):
			node := drawnNode.FindStringSubmatch(line)
			d.packages[node[1]] = node[2]
		case drawnUse.MatchString(line):
			use := drawnUse.FindStringSubmatch(line)
			d.add(use[1], use[2], "")
		case drawnCall.MatchString(line):
			call := drawnCall.FindStringSubmatch(line)
			d.add(call[1], call[3], call[2])
		default:
			d.unread = append(d.unread, line)
		}
	}
	return d
}

func (d *drawing) add(from, to, through string) {
	for _, each := range strings.Split(to, " & ") {
		d.arrows = append(d.arrows, arrow{from, each, through})
	}
}

// faults says of everything that is wrong what to do about it.
func (d drawing) faults(imports map[string][]string, isInterface func(folder, name string) bool) (faults []string) {
	for _, line := range d.unread {
		faults = append(faults, "this line can't be read: "+line)
	}
	for _, folder := range d.packages {
		if imports[folder] == nil {
			faults = append(faults, "there is no package "+folder+": rename it or take it out of the drawing")
		}
	}
	below := map[string][]string{}
	for _, a := range d.arrows {
		faults = append(faults, d.wrong(a, imports, isInterface)...)
		if a.through == "" {
			below[a.from] = append(below[a.from], a.to)
		}
	}
	for from, folder := range d.packages {
		for to, other := range d.packages {
			if slices.Contains(imports[folder], module+other) && !leads(below, from, to) {
				faults = append(faults, folder+" imports "+other+": draw "+from+" --> "+to)
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// wrong is what is wrong with one arrow.
func (d drawing) wrong(a arrow, imports map[string][]string, isInterface func(folder, name string) bool) []string {
	for _, name := range []string{a.from, a.to} {
		if d.packages[name] == "" {
			return []string{name + ` is not declared: add a line such as ` + name + `["path/of/package"]`}
		}
	}
	from, to := d.packages[a.from], d.packages[a.to]
	switch {
	case a.through == "" && !slices.Contains(imports[from], module+to):
		return []string{from + " does not import " + to + ": take out the arrow, or draw the package between them"}
	case a.through != "" && !slices.Contains(imports[to], module+from):
		return []string{to + " does not import " + from + ", so it can't be called through " + from + "." + a.through}
	case a.through != "" && !isInterface(from, a.through):
		return []string{from + " has no interface " + a.through}
	}
	return nil
}

// leads says whether one gets from one package to another along arrows.
func leads(below map[string][]string, from, to string) bool {
	return from == to || slices.ContainsFunc(below[from], func(next string) bool { return leads(below, next, to) })
}

// hasInterface says whether a package has an interface of that name.
func hasInterface(t *testing.T, folder, name string) bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^type ` + name + ` interface \{`)
	return slices.ContainsFunc(filesEnding(t, ".go"), func(file string) bool {
		return path.Dir(file) == folder && declared.MatchString(fileText(t, file))
	})
}
