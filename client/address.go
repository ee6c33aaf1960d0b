package client

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// base is what the paths of the interface begin with.
const base = "/api/v1/"

// ofState returns a request for a state, or for what belongs to it and is below.
func ofState(method, name string, below ...string) request {
	return ofNamed(method, "state", name, misread, below)
}

// ofWorkspace returns a request for a workspace, or for what belongs to it and is below.
func ofWorkspace(method, name string, below ...string) request {
	return ofNamed(method, "workspaces", name, hasMark, below)
}

// hasMark reports whether a name would be misread because a segment of it is what stands before what belongs to a name.
func hasMark(name []string) bool { return slices.Contains(name, "-") }

// ofNamed returns a request for what has a name of several segments, or for what belongs to it. A
// slash in the name stays one, except where the address would be misread as another one.
func ofNamed(method, collection, name string, misread func(name []string) bool, below []string) request {
	segments := strings.Split(name, "/")
	for i, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return request{err: fmt.Errorf("%.300q is not a name in %s: a segment of it is empty, a dot or two", name,
				collection)}
		}
		segments[i] = pathSegment(segment)
	}
	separator := "/"
	if misread(segments) {
		separator = "%2F"
	}
	path := base + collection + "/" + strings.Join(segments, separator)
	for i, segment := range below {
		if i == 0 {
			path += "/-"
		}
		path += "/" + pathSegment(segment)
	}
	return request{method: method, path: path}
}

// StateAddress is a state's address at a server, as Terraform and OpenTofu take it for the address,
// lock_address and unlock_address of their http backend. The name must be one.
func StateAddress(server, name string) string {
	return strings.TrimSuffix(server, "/") + ofState("", name).path
}

// misread reports whether a name reads, with plain slashes, like what belongs to another state.
func misread(name []string) bool {
	belongings := []string{"lock", "undelete", "outputs", "versions", "candidates"}
	return slices.Contains(name, "-") || len(name) > 1 && slices.Contains(belongings, name[1])
}

// pathSegment escapes a text as one segment of a path. A "+" is escaped too: it may stand
// there as it is, but some proxies take it for a space.
func pathSegment(text string) string { return strings.ReplaceAll(url.PathEscape(text), "+", "%2B") }
