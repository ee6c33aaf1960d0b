package audit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/audit"
)

// Every action of the package is in Actions.
func TestActionsAreComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Action" {
			name, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if found++; !slices.Contains(audit.Actions(), audit.Action(name)) {
				t.Errorf("Actions lacks %s", name)
			}
		}
		return true
	})
	if found != len(audit.Actions()) {
		t.Errorf("Actions has %d, of %d", len(audit.Actions()), found)
	}
}

func TestSelections(t *testing.T) {
	write, odd := audit.Event{Action: audit.StateWrite}, audit.Event{Action: audit.StateWrite, Note: "emptied"}
	took, forced := audit.Event{Action: audit.LockTake}, audit.Event{Action: audit.LockForce}
	dropped, held := audit.Event{Action: audit.NoticeDrop}, audit.Event{Action: audit.CandidateHold}
	all := []audit.Event{write, odd, took, forced, dropped, held}
	for list, want := range map[string][]audit.Event{
		"":                     {odd, forced, held},
		"default":              {odd, forced, held},
		"default, state.write": {write, odd, forced, held},
		"state.write":          {write, odd},
		"lock.*":               {took, forced},
		"*":                    {write, odd, took, forced, held}, // but never what could not be told
	} {
		var entries []string
		if list != "" {
			entries = strings.Split(list, ", ")
		}
		s, err := audit.ParseSelection(entries)
		if err != nil {
			t.Errorf("%q: %v", list, err)
		}
		var got []audit.Event
		for _, e := range all {
			if s.Wants(e) {
				got = append(got, e)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q selects %+v, want %+v", list, got, want)
		}
	}
	for _, unknown := range []string{"state.writes", "lock", "lock*", "l*", "notice.drop", "notice.*", "Default", "**"} {
		if _, err := audit.ParseSelection([]string{"default", unknown}); err == nil ||
			!strings.Contains(err.Error(), "candidate.hold") {
			t.Errorf("%q: %v; want what there is", unknown, err)
		}
	}
}
