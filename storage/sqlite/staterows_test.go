package sqlite

import (
	"context"
	"go/ast"
	"go/parser"
	source "go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// TestRowsAreWrittenInOnePlace wants every text that writes rows of states, versions or
// bodies to be a rowWrite: the compiler lets nobody run one of those but stateRows, which
// forgets the head that is kept.
func TestRowsAreWrittenInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	writesRows := regexp.MustCompile(`(?i)(INSERT( OR \w+)? INTO|REPLACE INTO|UPDATE|DELETE FROM)\s+(states|versions|bodies)\b`)
	found := 0
	for _, name := range files {
		// What is moved in goes to a database that no Store has open, so that nobody keeps heads of it.
		if strings.HasSuffix(name, "_test.go") || name == "moving.go" {
			continue
		}
		file, err := parser.ParseFile(source.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		typed := map[*ast.BasicLit]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "rowWrite" {
					ast.Inspect(n, func(n ast.Node) bool {
						if text, ok := n.(*ast.BasicLit); ok {
							typed[text] = true
						}
						return true
					})
				}
			case *ast.BasicLit:
				if n.Kind == source.STRING && writesRows.MatchString(n.Value) {
					if found++; !typed[n] {
						t.Errorf("%s writes rows of states as no rowWrite does: %s", name, n.Value)
					}
				}
			}
			return true
		})
	}
	if found < 14 {
		t.Errorf("only %d statements write rows of states: the test misses some", found)
	}
}

// callsThatWrite calls each method of state.Store that may write, on a state with a version
// that is deleted.
func callsThatWrite(ctx context.Context, s *Store, ref state.Ref) map[string]func() error {
	event := audit.Event{At: time.Unix(9, 0), Org: ref.Org, Action: audit.StateWrite}
	return map[string]func() error{
		"Update": func() error {
			_, err := s.Update(ctx, ref, nil,
				always(state.Change{Undelete: true, Release: true, Seen: true, At: time.Unix(8, 0)}))
			return err
		},
		"Purge": func() error { return s.Purge(ctx, ref, 2, event) },
		"Prune": func() error {
			_, err := s.Prune(ctx, ref, state.Pruning{Below: 2, Limit: 9}, event)
			return err
		},
		"Expunge": func() error {
			_, err := s.Expunge(ctx, ref, time.Now(), 1, event)
			return err
		},
		"Shred": func() error {
			_, err := s.Shred(ctx, ref.Org, 1)
			return err
		},
		"Record": func() error { return s.Record(ctx, event) },
		"PruneEvents": func() error {
			_, err := s.PruneEvents(ctx, ref.Org, time.Unix(8, 0), 9, event)
			return err
		},
	}
}

// reads are the methods of state.Store that write nothing.
func reads() []string {
	return []string{"Current", "Head", "Version", "Ready", "Close", "States", "Versions", "Candidates", "Candidate",
		"Events", "Feed", "All", "Usage", "Totals", "Names", "Chain"}
}

// TestEveryWriteForgets has each method of the contract write to a state whose head is kept:
// what is kept afterwards is what is there. A new method has to join the list.
func TestEveryWriteForgets(t *testing.T) {
	known := map[string]bool{}
	for _, name := range reads() {
		known[name] = true
	}
	s, _ := opened(t)
	for name := range callsThatWrite(t.Context(), s, state.Ref{}) {
		known[name] = true
		ref := newRef("kept")
		mustPut(t, s, ref, []byte("{}"))
		mustPut(t, s, ref, []byte("[]"))
		if _, err := s.Update(t.Context(), ref, nil, always(state.Change{Delete: true, At: time.Unix(7, 0)})); err != nil {
			t.Fatal(err)
		}
		if !s.session.heads.rows.Contains(ref) {
			t.Fatal("the head is not kept: the test shows nothing")
		}
		if err := callsThatWrite(t.Context(), s, ref)[name](); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantKept(t, s)
	}
	for method := range reflect.TypeFor[state.Store]().Methods() {
		if !known[method.Name] {
			t.Errorf("%s is new: say whether it writes, and how it is called", method.Name)
		}
	}
}
