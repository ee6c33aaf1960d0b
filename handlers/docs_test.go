package handlers_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
)

func apiPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The API page lists exactly the routes that there are.
func TestAPIPageListsEveryRoute(t *testing.T) {
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, route := range router.Routes() {
		want = append(want, route.Method+" "+route.Path)
	}
	for _, match := range regexp.MustCompile("(?m)^\\| `([A-Z]+ /[^`]*)` \\|").FindAllStringSubmatch(apiPage(t), -1) {
		have = append(have, match[1])
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("docs/api.md lists\n%s\nthe router has\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

// The API page has the catalogue's table of codes.
func TestAPIPageListsEveryCode(t *testing.T) {
	var table strings.Builder
	for _, entry := range fault.Catalogue() {
		fmt.Fprintf(&table, "| `%s` | %d | %s |\n", entry.Code, middleware.StatusOf(entry.Kind), entry.Meaning)
	}
	if !strings.Contains(apiPage(t), "| code | status | meaning |\n|---|---|---|\n"+table.String()) {
		t.Errorf("docs/api.md lacks this table:\n%s", table.String())
	}
}
