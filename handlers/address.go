package handlers

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

const (
	// statesPath is what the address of every state begins with, in Holdfast's own spelling.
	statesPath = "/api/v1/state/"
	// workspacesPath is what the address of every workspace begins with, and filesPath what the
	// address of its files goes on with.
	workspacesPath = "/api/v1/workspaces/"
	layersPath     = "/api/v1/layers/"
	filesPath      = "files/"
	// belongs stands in an address between a state's name and what belongs to that state.
	belongs = "/-/"
)

// belongings are patterns of path.Match: the addresses of what belongs to a state, behind its
// name, beside its lock.
var belongings = [...]string{
	"lock/release", "undelete", "outputs", "outputs/?*",
	"versions", "versions/?*", "versions/?*/rollback", "versions/?*/diff",
	"candidates", "candidates/?*", "candidates/?*/diff", "candidates/?*/promote", "candidates/?*/discard",
}

// Router serves every route, at every spelling of its address.
type Router struct {
	*gin.Engine
	others []dialect // that are spoken
	book   *book
}

// ServeHTTP implements http.Handler.
func (r Router) ServeHTTP(w http.ResponseWriter, asked *http.Request) {
	r.Engine.ServeHTTP(w, r.asRouted(asked))
}

// asRouted returns the request, or a copy with the address as routes have it.
func (r Router) asRouted(asked *http.Request) *http.Request {
	var routed string
	given := asked.URL.EscapedPath()
	switch {
	case strings.HasPrefix(asked.URL.Path, statesPath):
		routed = routedPath(given)
	case strings.HasPrefix(asked.URL.Path, workspacesPath), strings.HasPrefix(asked.URL.Path, layersPath):
		routed = routedWorkspace(given)
	default:
		routed = r.inOthers(given)
	}
	if routed == given {
		return asked
	}
	plain, err := url.PathUnescape(routed)
	if err != nil {
		return asked
	}
	copied, address := asked, *asked.URL
	if strings.HasPrefix(routed, statesPath) && !strings.Contains(given, belongs) && strings.Contains(routed, belongs) {
		copied = asked.WithContext(context.WithValue(asked.Context(), ambiguousKey{}, true))
	} else {
		shallow := *asked
		copied = &shallow
	}
	address.Path, address.RawPath = plain, routed
	copied.URL = &address
	return copied
}

// inOthers returns the escaped path of another server's address as the routes have it.
func (r Router) inOthers(escaped string) string {
	for _, other := range r.others {
		if other.routed != nil {
			escaped = other.routed(escaped)
		}
	}
	return escaped
}

// ambiguousKey marks the context of a request whose address may also be meant as that of a state.
type ambiguousKey struct{}

// notAbsent keeps a client from taking an address such as prod/outputs/network, which it means as
// a state's, for one of a state that is not there yet: it would go on to create everything.
func notAbsent(asked *http.Request, err error) error {
	f := fault.From(err)
	if asked.Method != http.MethodGet || f.Code.Kind() != fault.NotFound || asked.Context().Value(ambiguousKey{}) == nil {
		return err
	}
	return fault.Wrap(err, fault.RouteUnknown,
		"%s; write /-/ before what belongs to a state, and where the whole is a state's name, send its \"/\" as %%2F",
		f.Message)
}

// routedPath returns the escaped path of a state's address with its name as one segment:
//
//	/api/v1/state/prod/network              /api/v1/state/prod%2Fnetwork
//	/api/v1/state/prod/network/-/versions   /api/v1/state/prod%2Fnetwork/-/versions
//	/api/v1/state/prod/network/lock         /api/v1/state/prod%2Fnetwork/-/lock
//	/api/v1/state/prod/versions             /api/v1/state/prod/-/versions
//
// The lock needs no dash, whatever stands before it: no state's name ends so. The others need
// none behind a single segment. The state of that name is prod%2Fversions.
func routedPath(escaped string) string {
	rest, ok := strings.CutPrefix(escaped, statesPath)
	if !ok || !strings.Contains(rest, "/") {
		return escaped
	}
	name, of, belonging := strings.Cut(rest, belongs)
	if !belonging {
		first, others, _ := strings.Cut(rest, "/")
		if locked, is := strings.CutSuffix(rest, "/"+state.LockSegment); is && locked != "" {
			name, of, belonging = locked, state.LockSegment, true
		} else if isBelonging(others) {
			name, of, belonging = first, others, true
		}
	}
	routed := statesPath + strings.ReplaceAll(name, "/", "%2F")
	if belonging {
		routed += belongs + of
	}
	return routed
}

// isBelonging reports whether a path behind a state's name is that of something that belongs
// to a state.
func isBelonging(of string) bool {
	return slices.ContainsFunc(belongings[:], func(pattern string) bool {
		matches, err := path.Match(pattern, of)
		return matches && err == nil
	})
}

// routedWorkspace returns the escaped path of a workspace's, or a layer's, address with its name as one segment,
// and the path of a file of it as another:
//
//	/api/v1/workspaces/prod/network/-/files/modules/a.tf  /api/v1/workspaces/prod%2Fnetwork/-/files/modules%2Fa.tf
func routedWorkspace(escaped string) string {
	prefix := workspacesPath
	rest, ok := strings.CutPrefix(escaped, prefix)
	if !ok {
		prefix = layersPath
		if rest, ok = strings.CutPrefix(escaped, prefix); !ok {
			return escaped
		}
	}
	name, of, belonging := strings.Cut(rest, belongs)
	routed := prefix + strings.ReplaceAll(name, "/", "%2F")
	if !belonging {
		return routed
	}
	if file, is := strings.CutPrefix(of, filesPath); is {
		of = filesPath + strings.ReplaceAll(file, "/", "%2F")
	}
	return routed + belongs + of
}
