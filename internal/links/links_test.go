package links_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/links"
)

const site links.Site = "https://holdfast.example.com/"

// pages are all addresses of the page that there are links to.
func pages() []string {
	return []string{site.Run("01JD8X6Q4ZK4T1M5S0R9V7E2WB"), site.State("prod/eu 1/net"), site.Candidates("prod/net"),
		site.Version("prod/net", 2), site.Audit("prod/net", ""), site.Audit("", "login.fail")}
}

func TestLinks(t *testing.T) {
	for got, want := range map[string]string{
		site.Run("01J"):                  "https://holdfast.example.com/ui/runs/01J",
		site.State("a/b c"):              "https://holdfast.example.com/ui/states/a/b%20c",
		site.Candidates("a/b"):           "https://holdfast.example.com/ui/states/a/b?tab=candidates",
		site.Version("a/b", 12):          "https://holdfast.example.com/ui/states/a/b?tab=versions&version=12",
		site.Audit("a/b", "x"):           "https://holdfast.example.com/ui/audit?state=a%2Fb",
		site.Audit("42", ""):             "https://holdfast.example.com/ui/audit?state=%2242%22",
		site.Webhook("github", "1"):      "https://holdfast.example.com/webhooks/github/1",
		links.Site("").Run("01J"):        "",
		links.Site("").State("a"):        "",
		links.Site("").Audit("a", ""):    "",
		links.Site("").Webhook("a", "1"): "/webhooks/a/1",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPagesAreThere holds each address to what the page itself knows: its routes, and what they read of a query.
func TestPagesAreThere(t *testing.T) {
	files, err := filepath.Glob("../../web/src/pages/*/route.ts")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no routes", err)
	}
	routes := map[*regexp.Regexp]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`path: '(/[^']*)'`).FindAllStringSubmatch(string(source), -1) {
			pattern := regexp.QuoteMeta(strings.TrimSuffix(found[1], "/"))
			pattern = regexp.MustCompile(`\\\$[a-z]+`).ReplaceAllString(pattern, `[^/]+`)
			pattern = strings.Replace(pattern, `\$`, `.+`, 1)
			routes[regexp.MustCompile("^"+pattern+"/?$")] = string(source)
		}
	}
	for _, address := range pages() {
		parsed, err := url.Parse(address)
		if err != nil || !strings.HasPrefix(parsed.Path, links.Page) {
			t.Fatalf("%s: %v", address, err)
		}
		path, known := strings.TrimPrefix(parsed.Path, strings.TrimSuffix(links.Page, "/")), false
		for route, source := range routes {
			if !route.MatchString(path) {
				continue
			}
			known = true
			for name := range parsed.Query() {
				if !regexp.MustCompile(`\b` + name + `\?:`).MatchString(source) {
					t.Errorf("%s: its page reads no %s", address, name)
				}
			}
		}
		if !known {
			t.Errorf("%s is no page", address)
		}
	}
	for _, tab := range []string{"candidates", "versions"} {
		page, err := os.ReadFile("../../web/src/pages/state/StatePage.tsx")
		if err != nil || !strings.Contains(string(page), "id: '"+tab+"'") {
			t.Errorf("%v: a state has no tab %s", err, tab)
		}
	}
}

// TestAddressesComeFromHere finds who makes an address by itself.
func TestAddressesComeFromHere(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			if path != "../.." && (strings.HasPrefix(name, ".") || name == "web" || name == "testdata" || name == "links" ||
				name == "data") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if found := regexp.MustCompile(`(?i)public(url)?(, "/"\))? \+ .*|"/?ui/.*`).Find(source); found != nil {
			t.Errorf("%s makes an address: %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
