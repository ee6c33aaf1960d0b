package insight_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lines of the page between which its table of rules is.
const (
	tableBegins = "<!-- rules -->\n"
	tableEnds   = "<!-- end of rules -->\n"
)

// TestPageHasEveryRule: the table of rules is made of what the rules say of themselves. With
// -update it is written anew.
func TestPageHasEveryRule(t *testing.T) {
	const page = "../docs/insight.md"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !ok || !ends {
		t.Fatalf("%s has no place for the table", page)
	}
	var table strings.Builder
	table.WriteString("| rule | severity | kind | what it finds | what to do |\n|---|---|---|---|---|\n")
	for _, r := range engine(t).Rules() {
		fmt.Fprintf(&table, "| [%s](%s) | %s | %s | %s | %s |\n", r.ID, r.Link, r.Severity, r.Kind, r.Title, r.Recommendation)
	}
	want := before + tableBegins + table.String() + tableEnds + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("`go test ./insight -run Page -update` writes it anew: %s", diff)
	}
}
