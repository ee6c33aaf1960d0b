package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/openapi"
)

// Every route is in the document that is kept, and the other way round.
func TestOpenAPIDocumentHasEveryRoute(t *testing.T) {
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	var routed, documented []string
	for _, route := range router.Routes() {
		if strings.HasPrefix(route.Path, "/ui") {
			continue // documents and files for browsers
		}
		path := strings.Replace(route.Path, "/-/state/:alias/", "/:alias/state/", 1) // as clients send it
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = "{" + name + "}"
			}
		}
		routed = append(routed, route.Method+" "+strings.Join(parts, "/"))
	}
	paths, _ := theDocument().at("/paths")
	for path, item := range paths {
		for method, operation := range item.(map[string]any) {
			if method != openapi.MoreMethods {
				documented = append(documented, strings.ToUpper(method)+" "+path)
				continue
			}
			for method := range operation.(map[string]any) {
				documented = append(documented, method+" "+path)
			}
		}
	}
	slices.Sort(routed)
	slices.Sort(documented)
	if !slices.Equal(routed, documented) {
		t.Errorf("the router has\n%s\nthe document has\n%s", strings.Join(routed, "\n"), strings.Join(documented, "\n"))
	}
}

// filledPath is the address of an operation in the world of the walk.
func filledPath(o openapi.Operation, fill *strings.Replacer) string {
	path := strings.NewReplacer("/infra/{project}", "/infra/pending", "{enclave}", "e", "{partition}", "x",
		"{alias}", "42", "{serial}", "2", "{version}", "1",
		"{key}", "a", "{snapshot}", "newest",
		"{digest}", wireDigest, "{path}", "d/main.tf", "{pool}", "eu", "{organization}",
		"11111111-1111-4111-8111-111111111111", "{stream}", "plan", "{attempt}", "1",
		"{kind}", "lock_file", "{address}", "aws_vpc.moved2%5B0%5D").Replace(o.Path)
	switch {
	case strings.HasPrefix(path, "/enclaves/"):
		path = strings.Replace(path, "{id}", "{part}", 1)
	case strings.Contains(path, "/workspaces/"):
		path = strings.Replace(path, "{name}", "prod/net", 1)
	case strings.Contains(path, "/candidates/"):
		path = strings.Replace(path, "{id}", "{open}", 1)
	default:
		path = strings.Replace(path, "/runs/{id}", "/runs/{run}", 1)
	}
	return fill.Replace(strings.Replace(path, "{name}", "x", 1))
}

// Each parameter that is described is read: twice it is refused. Others are refused too, or mean
// nothing, as is described.
func TestDescribedParametersAreTheOnesThatAreRead(t *testing.T) {
	c, fill := wireWorld(t)
	for _, o := range operations(t) {
		if len(o.Security) == 0 || o.Security[0] == "poolToken" || o.Security[0] == "agentSecret" ||
			o.Method == http.MethodDelete {
			continue
		}
		path, given := filledPath(o, fill), ""
		body, headers := bodyOf(o), []string(nil)
		if o.Security[0] == "runToken" {
			headers = []string{"Authorization: " + "Bearer " + fill.Replace("{token}")}
		}
		for _, p := range o.Parameters {
			if p.Required && p.In == "query" {
				value := "x"
				if p.Name == "time" {
					value = "2026-01-01T00:00:00Z"
				}
				given += "&" + p.Name + "=" + value
			}
		}
		for _, p := range o.Parameters {
			if p.In != "query" {
				continue
			}
			name := p.Name
			if name == "attributes" {
				name = "attr.x"
			}
			got := c.do(o.Method+" "+path+"?"+name+"=1&"+name+"=1"+given, body, headers...)
			if ignored := meansNothing(o, p.Name); ignored != (got.status != 400) || !ignored &&
				!strings.Contains(got.body, "more than one") {
				t.Errorf("%s %s with two %s: %d %.200s", o.Method, path, name, got.status, got.body)
			}
		}
		if o.OtherParameters {
			continue
		}
		if got := c.do(o.Method+" "+path+"?unheard=1"+given, body, headers...); got.status != 400 ||
			!strings.Contains(got.body, "unknown here") {
			t.Errorf("%s %s with an unknown parameter: %d %.200s", o.Method, path, got.status, got.body)
		}
	}
}

// meansNothing reports whether a parameter is looked at only by who limits requests: it says which
// lock the caller holds.
func meansNothing(o openapi.Operation, name string) bool {
	return name == "ID" && slices.Contains([]string{"undeleteState", "releaseLock", "discardCandidate"}, o.ID)
}

// bodyOf is one that a handler understands as far as it looks before the query.
func bodyOf(o openapi.Operation) string {
	if o.Body == nil {
		return ""
	}
	switch {
	case strings.HasPrefix(o.ID, "lock"), strings.HasPrefix(o.ID, "unlock"):
		return wireInfo
	case o.ID == "expect":
		return wireExpect
	case o.Tag == "States", strings.HasPrefix(o.Tag, "Other"), o.ID == "importVersion", o.ID == "addCandidate":
		return wireState("9", "x")
	}
	if o.ID == "moveFile" {
		return `{"from":"a","to":"b"}`
	}
	return `{"reason":"x"}`
}
