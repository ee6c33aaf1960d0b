//go:build e2e

package test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/insight/policy"
	layering "github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	nowhere "github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/workspace"
)

// bodyUse is what a route does with bodies of states or uploads.
type bodyUse int

const (
	noBody      bodyUse = iota // it looks into none, and takes none that is large: its answer has less than 64 KiB
	sendsBody                  // its answer is one, or is made of one or several
	takesBody                  // its request is one
	readsBody                  // its answer is small, and made of one
	makesBody                  // it stores one that is made of another
	sendsList                  // its answer may have more than 64 KiB, and counts as a body does
	sendsPieces                // its answer goes out piece by piece, and counts as what a piece takes
	takesPieces                // its request comes piece by piece, and counts likewise
	takesOrder                 // its request is JSON that may have many parts
	// its answer is a run or a pool, of less than 512 KiB: the requests in flight bound them, so that a change is told
	// whose answer finds no memory
	sendsRun
	// its bodies are those of other routes by other names, or are bounded by a few MiB for which memory is held:
	// not yet asked for by many at once here
	holdsOwn
)

// bodyRoutes has every route, so that a new one is thought about: each that has to do with
// bodies is asked for by many at once. :id is that of a large candidate, version 1 is large,
// and so is all that is shown of it; so is the one record that was uploaded. The workspace has a
// large configuration, and one run that left much behind; another one is being planned.
func bodyRoutes() map[string]bodyUse {
	return map[string]bodyUse{
		"GET /": noBody, "HEAD /": noBody,
		"GET /ui": noBody, "HEAD /ui": noBody, "GET /ui/*path": noBody, "HEAD /ui/*path": noBody, "GET /health": noBody,
		"GET /livez": noBody, "HEAD /livez": noBody, "HEAD /health": noBody, "HEAD /readyz": noBody, "HEAD /metrics": noBody,
		"GET /readyz": noBody, "GET /metrics": noBody,
		"GET /api/v1/whoami": noBody, "GET /api/openapi.json": noBody, "GET /api/docs": noBody, // the same bytes for all

		"POST /api/v1/session": noBody, "GET /api/v1/session": noBody, "DELETE /api/v1/session": noBody,
		"GET /api/v1/session/ways": noBody,
		"GET /api/v1/session/oidc": noBody, "GET /api/v1/session/oidc/callback": noBody,
		"GET /api/v1/sessions": noBody, "DELETE /api/v1/sessions": noBody, "DELETE /api/v1/sessions/:session": noBody,
		"GET /api/v1/keys": noBody, "POST /api/v1/keys": noBody, "POST /api/v1/keys/:key/rotate": noBody,
		"DELETE /api/v1/keys/:key": noBody,
		"GET /api/v1/organization": noBody, "PATCH /api/v1/organization": noBody, // a few settings, bounded by 8 KiB

		"GET /api/v1/state/:name":           sendsBody,
		"POST /api/v1/state/:name":          takesBody,
		"PUT /api/v1/state/:name":           takesBody,
		"DELETE /api/v1/state/:name":        noBody,
		"LOCK /api/v1/state/:name":          noBody,
		"UNLOCK /api/v1/state/:name":        noBody,
		"GET /api/v1/state/:name/-/lock":    noBody,
		"POST /api/v1/state/:name/-/lock":   noBody,
		"PUT /api/v1/state/:name/-/lock":    noBody,
		"DELETE /api/v1/state/:name/-/lock": noBody,

		"GET /terraform/state/:enclave/:partition":         sendsBody,
		"POST /terraform/state/:enclave/:partition":        takesBody,
		"PUT /terraform/state/:enclave/:partition":         takesBody,
		"DELETE /terraform/state/:enclave/:partition":      noBody,
		"LOCK /terraform/state/:enclave/:partition":        noBody,
		"UNLOCK /terraform/state/:enclave/:partition":      noBody,
		"POST /terraform/state/:enclave/:partition/lock":   noBody,
		"PUT /terraform/state/:enclave/:partition/lock":    noBody,
		"DELETE /terraform/state/:enclave/:partition/lock": noBody,

		"GET /api/v4/projects/:alias/terraform/state/:name":                     sendsBody,
		"POST /api/v4/projects/:alias/terraform/state/:name":                    takesBody,
		"DELETE /api/v4/projects/:alias/terraform/state/:name":                  noBody,
		"POST /api/v4/projects/:alias/terraform/state/:name/lock":               noBody,
		"DELETE /api/v4/projects/:alias/terraform/state/:name/lock":             noBody,
		"GET /api/v4/projects/:alias/terraform/state/:name/versions/:serial":    sendsBody,
		"DELETE /api/v4/projects/:alias/terraform/state/:name/versions/:serial": noBody,

		"GET /api/packages/:alias/terraform/state/:name":                     sendsBody,
		"POST /api/packages/:alias/terraform/state/:name":                    takesBody,
		"DELETE /api/packages/:alias/terraform/state/:name":                  noBody,
		"POST /api/packages/:alias/terraform/state/:name/lock":               noBody,
		"DELETE /api/packages/:alias/terraform/state/:name/lock":             noBody,
		"GET /api/packages/:alias/terraform/state/:name/versions/:serial":    sendsBody,
		"DELETE /api/packages/:alias/terraform/state/:name/versions/:serial": noBody,

		"GET /state/:alias/:name":    sendsBody,
		"POST /state/:alias/:name":   takesBody,
		"DELETE /state/:alias/:name": noBody,
		"LOCK /state/:alias/:name":   noBody,
		"UNLOCK /state/:alias/:name": noBody,

		"GET /-/state/:alias/:name":         sendsBody,
		"POST /-/state/:alias/:name":        takesBody,
		"DELETE /-/state/:alias/:name":      noBody,
		"POST /-/state/:alias/:name/lock":   noBody,
		"DELETE /-/state/:alias/:name/lock": noBody,

		"GET /api/v1/states": sendsList, "GET /api/v1/locks": sendsList, "GET /api/v1/audit": sendsList,
		"GET /api/v1/audit/chain":                               sendsList,
		"GET /api/v1/expectations":                              sendsList,
		"GET /api/v1/state/:name/-/expect":                      noBody,
		"POST /api/v1/state/:name/-/expect":                     noBody,
		"DELETE /api/v1/state/:name/-/expect":                   noBody,
		"POST /api/v1/state/:name/-/undelete":                   noBody,
		"POST /api/v1/state/:name/-/import":                     takesBody,
		"POST /api/v1/state/:name/-/lock/release":               noBody,
		"GET /api/v1/state/:name/-/versions":                    sendsList,
		"GET /api/v1/state/:name/-/versions/:version":           sendsBody,
		"DELETE /api/v1/state/:name/-/versions/:version":        noBody,
		"POST /api/v1/state/:name/-/versions/:version/rollback": makesBody,
		"GET /api/v1/state/:name/-/versions/:version/diff":      sendsBody,
		"GET /api/v1/state/:name/-/outputs":                     sendsBody,
		"GET /api/v1/state/:name/-/outputs/:key":                sendsBody,
		"GET /api/v1/state/:name/-/graph":                       readsBody,
		"GET /api/v1/folders":                                   sendsList,
		"GET /api/v1/state/:name/-/candidates":                  sendsList,
		"POST /api/v1/state/:name/-/candidates":                 takesBody,
		"GET /api/v1/state/:name/-/candidates/:id":              sendsBody,
		"GET /api/v1/state/:name/-/candidates/:id/diff":         sendsBody,
		"POST /api/v1/state/:name/-/candidates/:id/promote":     makesBody,
		"POST /api/v1/state/:name/-/candidates/:id/discard":     noBody,

		"GET /api/v1/resources":                  sendsList,
		"GET /api/v1/resources/coverage":         sendsList,
		"GET /api/v1/resources/:address/history": sendsBody,

		"POST /api/v1/upload": takesBody, "POST /upload": takesBody,
		"GET /api/v1/data": sendsBody, "GET /api/v1/data/latest": sendsBody, "GET /api/v1/data/summary": sendsList,

		"GET /api/v1/workspaces":                                     sendsList,
		"POST /api/v1/workspaces":                                    noBody,
		"GET /api/v1/variables":                                      sendsList,
		"POST /api/v1/variables":                                     takesOrder,
		"GET /api/v1/workspaces/:name":                               noBody,
		"PATCH /api/v1/workspaces/:name":                             noBody,
		"DELETE /api/v1/workspaces/:name":                            noBody,
		"GET /api/v1/workspaces/:name/-/variables":                   sendsList,
		"POST /api/v1/workspaces/:name/-/variables":                  takesOrder,
		"GET /api/v1/workspaces/:name/-/snapshots":                   sendsList,
		"POST /api/v1/workspaces/:name/-/snapshots":                  takesOrder,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot":         sendsList,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot/archive": sendsPieces,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot/diff":    sendsList,
		"POST /api/v1/workspaces/:name/-/archive":                    takesPieces,
		"PUT /api/v1/workspaces/:name/-/contents/:digest":            takesPieces,
		"GET /api/v1/workspaces/:name/-/checksums":                   sendsList,
		"POST /api/v1/workspaces/:name/-/checksums":                  takesOrder,
		"GET /api/v1/workspaces/:name/-/files":                       sendsList,
		"GET /api/v1/workspaces/:name/-/files/:path":                 sendsPieces,
		"PUT /api/v1/workspaces/:name/-/files/:path":                 takesPieces,
		"DELETE /api/v1/workspaces/:name/-/files/:path":              makesBody,
		"POST /api/v1/workspaces/:name/-/move":                       noBody,
		"POST /api/v1/workspaces/:name/-/pull":                       takesOrder,
		"POST /api/v1/format":                                        makesBody,

		"GET /api/v1/runs":                sendsList,
		"POST /api/v1/runs":               takesOrder,
		"GET /api/v1/runs/:id":            sendsList,
		"GET /api/v1/runs/:id/events":     sendsList,
		"GET /api/v1/runs/:id/changes":    sendsPieces,
		"GET /api/v1/runs/:id/outputs":    sendsList,
		"GET /api/v1/runs/:id/log":        sendsPieces,
		"GET /api/v1/runs/:id/log/stream": sendsPieces,
		"GET /api/v1/events":              noBody,
		"GET /api/v1/home":                sendsList,
		"POST /api/v1/runs/:id/approve":   sendsRun,
		"POST /api/v1/runs/:id/deny":      sendsRun,
		"POST /api/v1/runs/:id/cancel":    sendsRun,
		"POST /api/v1/runs/:id/discard":   sendsRun,
		"POST /api/v1/runs/:id/retry":     sendsRun,
		"POST /api/v1/runs/:id/resolve":   sendsRun,
		"GET /api/v1/runs/:id/insight":    holdsOwn,

		"GET /api/v1/infra/:project/runs":              holdsOwn,
		"GET /api/v1/infra/:project/runs/:id":          holdsOwn,
		"GET /api/v1/infra/:project/run/stream":        holdsOwn,
		"GET /api/v1/infra/:project/files":             holdsOwn,
		"GET /api/v1/infra/:project/files/checksums":   holdsOwn,
		"GET /api/v1/infra/:project/state":             holdsOwn,
		"POST /api/v1/infra/:project/run":              holdsOwn,
		"POST /api/v1/infra/:project/runs/:id/approve": holdsOwn,
		"POST /api/v1/infra/:project/runs/:id/deny":    holdsOwn,
		"POST /api/v1/infra/:project/files":            holdsOwn,
		"POST /api/v1/infra/:project/files/pull":       holdsOwn,
		"POST /api/v1/infra/:project/state":            holdsOwn,
		"DELETE /api/v1/infra/:project/files/:name":    holdsOwn,

		"GET /enclaves/:enclave/partitions/:partition/iac/runs":                 holdsOwn,
		"GET /enclaves/:enclave/partitions/:partition/iac/runs/latest":          holdsOwn,
		"GET /enclaves/:enclave/partitions/:partition/iac/runs/:id":             holdsOwn,
		"GET /enclaves/:enclave/partitions/:partition/iac/runs/:id/stream":      holdsOwn,
		"POST /enclaves/:enclave/partitions/:partition/iac/runs":                holdsOwn,
		"PUT /enclaves/:enclave/partitions/:partition/iac/runs/:id/log/:stream": holdsOwn,
		"POST /enclaves/:enclave/partitions/:partition/iac/runs/:id/lease":      holdsOwn,
		"POST /enclaves/:enclave/partitions/:partition/iac/runs/:id/end":        holdsOwn,
		"DELETE /enclaves/:enclave":                                             holdsOwn,

		// What a tree of files is read of is bounded, and a webhook's body by 5 MiB.
		"POST /webhooks/:provider/:repository": holdsOwn,
		"GET /api/v1/repositories":             holdsOwn, "POST /api/v1/repositories": noBody,
		"GET /api/v1/repositories/:repository": noBody, "PATCH /api/v1/repositories/:repository": noBody,
		"DELETE /api/v1/repositories/:repository": noBody, "POST /api/v1/repositories/:repository/fetch": noBody,
		"POST /api/v1/repositories/:repository/secret": noBody,
		"GET /api/v1/layers":                           holdsOwn, "GET /api/v1/drift": holdsOwn,
		"GET /api/v1/drift/trend": holdsOwn, "GET /api/v1/layers/:name/-/drift/trend": holdsOwn,
		"POST /api/v1/discover": holdsOwn,
		"POST /api/v1/layers":   holdsOwn, "GET /api/v1/layers/:name": holdsOwn, "PATCH /api/v1/layers/:name": holdsOwn,
		"DELETE /api/v1/layers/:name": noBody, "POST /api/v1/layers/:name/-/sync": holdsOwn,
		"POST /api/v1/layers/:name/-/check": holdsOwn, "GET /api/v1/layers/:name/-/drift": holdsOwn,
		"POST /api/v1/layers/:name/-/expectations":       holdsOwn,
		"DELETE /api/v1/layers/:name/-/expectations/:id": holdsOwn,

		"GET /api/v1/policies": holdsOwn, "GET /api/v1/policies/:bundle": holdsOwn,
		"PUT /api/v1/policies/:bundle": holdsOwn, "DELETE /api/v1/policies/:bundle": noBody,
		"GET /api/v1/pools":                               sendsList,
		"POST /api/v1/pools":                              takesOrder,
		"POST /api/v1/pools/:pool/rotate":                 sendsRun,
		"PATCH /api/v1/pools/:pool":                       takesOrder,
		"POST /api/v1/pools/:pool/grants":                 takesOrder,
		"DELETE /api/v1/pools/:pool/grants/:organization": noBody,
		"DELETE /api/v1/pools/:pool":                      noBody,
		"POST /api/v1/agents":                             noBody,
		"POST /api/v1/agents/:agent/claim":                noBody,
		"POST /api/v1/runs/:id/lease":                     takesOrder,
		"POST /api/v1/runs/:id/phase":                     takesOrder,
		"PUT /api/v1/runs/:id/log/:stream/:attempt":       takesBody,
		"PUT /api/v1/runs/:id/artefacts/:kind/:attempt":   takesPieces,
		"GET /api/v1/runs/:id/artefacts/:kind/:attempt":   sendsPieces,
		"GET /api/v1/runs/:id/configuration":              sendsPieces,
	}
}

// moreAsks are other ways to ask a route of bodyRoutes for a body.
func moreAsks() map[string]bodyUse {
	return map[string]bodyUse{
		"GET /api/v1/state/:name?version=1":                                   sendsBody,
		"GET /api/v1/state/:name?view=redacted":                               sendsBody,
		"GET /api/v1/state/:name?view=outputs&version=1":                      sendsBody,
		"GET /api/v1/state/:name/-/versions/:version/diff?format=text":        sendsBody,
		"GET /api/v1/state/:name/-/outputs/:key?raw=true":                     sendsBody,
		"GET /terraform/state/:enclave/:partition?version=1":                  sendsBody,
		"GET /api/v1/state/:name/-/candidates/:id/diff?format=text":           sendsBody,
		"GET /api/v1/state/:name/-/versions/:version/diff?sensitive=true":     sendsBody,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot/diff?format=text": sendsPieces,
		"POST /api/v1/workspaces/:name/-/pull (a large file)":                 sendsList,
	}
}

// TestEveryRouteIsThoughtAbout holds bodyRoutes to the router.
func TestEveryRouteIsThoughtAbout(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States: state.NewService(nowhere.New(1<<20), state.DefaultPolicies{}, time.Now, log), Log: log, Now: time.Now,
		Resources:  resources.NewService(resources.Deps{Indexer: resources.NewIndexer(resources.Sources{Now: time.Now})}),
		Workspaces: &workspace.Service{}, Runs: &runs.Service{}, Sessions: &middleware.Sessions{}, KeyEdits: &keys.Service{},
		Repositories: &repos.Service{}, Layers: &layering.Service{}, Policies: &policy.Service{},
		Dialects: handlers.Dialects(),
	})
	if err != nil {
		t.Fatal(err)
	}
	known := bodyRoutes()
	for _, route := range router.Routes() {
		name := route.Method + " " + route.Path
		if _, ok := known[name]; !ok {
			t.Errorf("%s: say in bodyRoutes what it does with bodies", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is no route any more: drop it from bodyRoutes", name)
	}
	for ask := range moreAsks() {
		if _, ok := bodyRoutes()[routeOf(ask)]; !ok {
			t.Errorf("%s is of no route", ask)
		}
	}
}

// routeOf is the route that is asked, without what makes two asks of it different.
func routeOf(ask string) string {
	ask, _, _ = strings.Cut(ask, "?")
	ask, _, _ = strings.Cut(ask, " (")
	return ask
}
