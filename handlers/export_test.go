package handlers

import (
	"net/http"
	"strings"

	"github.com/holdfast/holdfast/internal/openapi"
)

// OperationOf returns what describes the route that a request goes to.
func (r Router) OperationOf(asked *http.Request) (openapi.Operation, bool) {
	given := strings.Split(r.asRouted(asked).URL.EscapedPath(), "/")
	best, most := openapi.Operation{}, -1
	for _, o := range r.Operations() {
		if literal := matching(strings.Split(routedOf(o.Path), "/"), given); o.Method == asked.Method && literal > most {
			best, most = o, literal
		}
	}
	return best, most >= 0
}

// routedOf is a path of the document as the router has it.
func routedOf(path string) string {
	if strings.HasPrefix(path, "/{alias}/state/") {
		return tenantsPath + "{alias}" + strings.TrimPrefix(path, "/{alias}/state")
	}
	return path
}

// matching counts the parts of a path that are the pattern's own; -1 where it does not match.
func matching(pattern, given []string) (literal int) {
	if len(pattern) != len(given) {
		return -1
	}
	for i, part := range pattern {
		switch {
		case part == given[i]:
			literal++
		case !strings.HasPrefix(part, "{") || given[i] == "":
			return -1
		}
	}
	return literal
}

// RouteOf is the route that an operation describes, as the router registers it.
func RouteOf(o openapi.Operation) string {
	path := strings.NewReplacer("{", ":", "}", "").Replace(routedOf(o.Path))
	return o.Method + " " + path
}
