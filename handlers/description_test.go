package handlers_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
)

// The document and the page are there for everybody, may be kept, and are asked for again by tag.
func TestDescriptionIsServed(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, "")
	c.user = ""
	for path, media := range map[string]string{"/api/openapi.json": "application/json", "/api/docs": "text/html"} {
		got := c.do("GET "+path, "")
		if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), media) ||
			got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
		if again := c.do("GET "+path, "", "If-None-Match: "+got.header.Get("ETag")); again.status != http.StatusNotModified ||
			again.body != "" {
			t.Errorf("%s by its tag: %d", path, again.status)
		}
	}
	if got := c.do("GET /api/openapi.json", ""); got.body != api.OpenAPI() {
		t.Error("the document is not the one that is kept")
	}
}

// The page has an anchor for each operation and each shape, no script, nothing from elsewhere, and
// no link that leads nowhere.
func TestPageShowsTheDocument(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, "")
	c.user = ""
	got := c.do("GET /api/docs", "")
	anchors := map[string]int{}
	for _, match := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(got.body, -1) {
		anchors[match[1]]++
	}
	for _, o := range operations(t) {
		if anchors[o.ID] != 1 {
			t.Errorf("the page has %d times %s", anchors[o.ID], o.ID)
		}
	}
	schemas, _ := theDocument().at("/components/schemas")
	for name := range schemas {
		if anchors["schema-"+name] != 1 {
			t.Errorf("the page has %d times the shape %s", anchors["schema-"+name], name)
		}
	}
	for _, match := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(got.body, -1) {
		if name, ok := strings.CutPrefix(match[1], "#"); ok && anchors[name] == 0 || !ok && match[1] != "/api/openapi.json" {
			t.Errorf("a link to %s leads nowhere", match[1])
		}
	}
	policy := got.header.Get("Content-Security-Policy")
	if strings.Contains(got.body, "<script") || strings.Contains(got.body, "style=") ||
		strings.Contains(got.body, "src=") ||
		!strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the page may load or execute something: %s", policy)
	}
}

// The rights that are described are those that TestEveryRouteNeedsItsRight shows to be needed.
func TestDescribedRightsAreNeeded(t *testing.T) {
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]string{}
	for route, right := range rightsOf() {
		method, address, _ := strings.Cut(route, " ")
		asked, err := http.NewRequest(method, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		o, ok := router.OperationOf(asked)
		if !ok {
			t.Fatalf("%s is no route", route)
		}
		seen[o.ID] = append(seen[o.ID], string(right))
		// To decide on a run, or to retry it, needs to see it first.
		if !slices.Contains(o.Rights, string(right)) && right != "run:read" {
			t.Errorf("%s needs %s, which its description does not name: %v", route, right, o.Rights)
		}
	}
	for _, o := range router.Operations() {
		key := len(o.Security) > 0 && o.Security[0] == "basic" && !ofEveryKey(o.Method+" "+o.Path) && o.Tag != "Sessions"
		if key && len(seen[o.ID]) == 0 || key && len(o.Rights) == 0 {
			t.Errorf("%s has no rights: %v", o.ID, o.Rights)
		}
	}
}

// The words of the interface are those of the domain.
func TestWordsAreTheDomains(t *testing.T) {
	words := api.Words()
	wantWords(t, words["RunKind"], runs.Kinds())
	wantWords(t, words["RunProgress"], runs.Statuses())
	wantWords(t, words["RunStage"], []runs.Stage{runs.PlanStage, runs.ApplyStage})
	wantWords(t, words["PhaseName"],
		[]runs.Phase{runs.PhasePrepare, runs.PhaseInit, runs.PhasePlan, runs.PhaseShow, runs.PhaseCheck, runs.PhaseApply,
			runs.PhaseOutput})
	wantWords(t, words["FailureClass"],
		[]runs.Class{runs.Infrastructure, runs.LockHeld, runs.Config, runs.Provider, runs.SandboxLow})
	wantWords(t, words["Finding"], state.CanExpect().List())
	wantWords(t, words["Source"], []resources.Source{resources.FromState, resources.FromUpload})
}

func wantWords[T ~string](t *testing.T, have []string, want []T) {
	t.Helper()
	var texts []string
	for _, one := range want {
		texts = append(texts, string(one))
	}
	slices.Sort(texts)
	if have = slices.Sorted(slices.Values(have)); !slices.Equal(have, texts) {
		t.Errorf("the words are %q; the domain has %q", have, texts)
	}
}
