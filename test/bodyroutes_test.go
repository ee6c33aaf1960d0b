//go:build e2e

package test

import "strings"

// bodyUse is what a route does with bodies of states or uploads.
type bodyUse int

const (
	sendsBody   bodyUse = iota // its answer is one, or is made of one or several
	takesBody                  // its request is one
	readsBody                  // its answer is small, and made of one
	makesBody                  // it stores one that is made of another
	sendsList                  // its answer may have more than 64 KiB, and counts as a body does
	sendsPieces                // its answer goes out piece by piece, and counts as what a piece takes
	takesPieces                // its request comes piece by piece, and counts likewise
	takesOrder                 // its request is JSON that may have many parts
)

// bodyRoutes are those that many ask at once, as their answers are made of bodies, or their requests are some. :id is
// that of a large candidate, version 1 is large, and so is all that is shown of it; so is the one record that was
// uploaded. The workspace has a large configuration, and one run that left much behind; another one is being planned.
// That no other route reads a body without memory for it, the tests of package handlers hold.
func bodyRoutes() map[string]bodyUse {
	return map[string]bodyUse{
		"GET /api/v1/state/:name":                                            sendsBody,
		"POST /api/v1/state/:name":                                           takesBody,
		"PUT /api/v1/state/:name":                                            takesBody,
		"GET /terraform/state/:enclave/:partition":                           sendsBody,
		"POST /terraform/state/:enclave/:partition":                          takesBody,
		"PUT /terraform/state/:enclave/:partition":                           takesBody,
		"GET /api/v4/projects/:alias/terraform/state/:name":                  sendsBody,
		"POST /api/v4/projects/:alias/terraform/state/:name":                 takesBody,
		"GET /api/v4/projects/:alias/terraform/state/:name/versions/:serial": sendsBody,
		"GET /api/packages/:alias/terraform/state/:name":                     sendsBody,
		"POST /api/packages/:alias/terraform/state/:name":                    takesBody,
		"GET /api/packages/:alias/terraform/state/:name/versions/:serial":    sendsBody,
		"GET /state/:alias/:name":                                            sendsBody,
		"POST /state/:alias/:name":                                           takesBody,
		"GET /-/state/:alias/:name":                                          sendsBody,
		"POST /-/state/:alias/:name":                                         takesBody,
		"GET /api/v1/states":                                                 sendsList,
		"GET /api/v1/locks":                                                  sendsList,
		"GET /api/v1/audit":                                                  sendsList,
		"GET /api/v1/audit/chain":                                            sendsList,
		"GET /api/v1/expectations":                                           sendsList,
		"POST /api/v1/state/:name/-/import":                                  takesBody,
		"GET /api/v1/state/:name/-/versions":                                 sendsList,
		"GET /api/v1/state/:name/-/versions/:version":                        sendsBody,
		"POST /api/v1/state/:name/-/versions/:version/rollback":              makesBody,
		"GET /api/v1/state/:name/-/versions/:version/diff":                   sendsBody,
		"GET /api/v1/state/:name/-/outputs":                                  sendsBody,
		"GET /api/v1/state/:name/-/outputs/:key":                             sendsBody,
		"GET /api/v1/state/:name/-/graph":                                    readsBody,
		"GET /api/v1/folders":                                                sendsList,
		"GET /api/v1/state/:name/-/candidates":                               sendsList,
		"POST /api/v1/state/:name/-/candidates":                              takesBody,
		"GET /api/v1/state/:name/-/candidates/:id":                           sendsBody,
		"GET /api/v1/state/:name/-/candidates/:id/diff":                      sendsBody,
		"POST /api/v1/state/:name/-/candidates/:id/promote":                  makesBody,
		"GET /api/v1/resources":                                              sendsList,
		"GET /api/v1/resources/coverage":                                     sendsList,
		"GET /api/v1/resources/:address/history":                             sendsBody,
		"POST /api/v1/upload":                                                takesBody,
		"POST /upload":                                                       takesBody,
		"GET /api/v1/data":                                                   sendsBody,
		"GET /api/v1/data/latest":                                            sendsBody,
		"GET /api/v1/data/summary":                                           sendsList,
		"GET /api/v1/workspaces":                                             sendsList,
		"GET /api/v1/variables":                                              sendsList,
		"POST /api/v1/variables":                                             takesOrder,
		"GET /api/v1/workspaces/:name/-/variables":                           sendsList,
		"POST /api/v1/workspaces/:name/-/variables":                          takesOrder,
		"GET /api/v1/workspaces/:name/-/snapshots":                           sendsList,
		"POST /api/v1/workspaces/:name/-/snapshots":                          takesOrder,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot":                 sendsList,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot/archive":         sendsPieces,
		"GET /api/v1/workspaces/:name/-/snapshots/:snapshot/diff":            sendsList,
		"POST /api/v1/workspaces/:name/-/archive":                            takesPieces,
		"PUT /api/v1/workspaces/:name/-/contents/:digest":                    takesPieces,
		"GET /api/v1/workspaces/:name/-/checksums":                           sendsList,
		"POST /api/v1/workspaces/:name/-/checksums":                          takesOrder,
		"GET /api/v1/workspaces/:name/-/files":                               sendsList,
		"GET /api/v1/workspaces/:name/-/files/:path":                         sendsPieces,
		"PUT /api/v1/workspaces/:name/-/files/:path":                         takesPieces,
		"DELETE /api/v1/workspaces/:name/-/files/:path":                      makesBody,
		"POST /api/v1/workspaces/:name/-/pull":                               takesOrder,
		"POST /api/v1/format":                                                makesBody,
		"GET /api/v1/runs":                                                   sendsList,
		"POST /api/v1/runs":                                                  takesOrder,
		"GET /api/v1/runs/:id":                                               sendsList,
		"GET /api/v1/runs/:id/events":                                        sendsList,
		"GET /api/v1/runs/:id/changes":                                       sendsPieces,
		"GET /api/v1/runs/:id/outputs":                                       sendsList,
		"GET /api/v1/runs/:id/log":                                           sendsPieces,
		"GET /api/v1/runs/:id/log/stream":                                    sendsPieces,
		"GET /api/v1/home":                                                   sendsList,
		"GET /api/v1/pools":                                                  sendsList,
		"POST /api/v1/pools":                                                 takesOrder,
		"PATCH /api/v1/pools/:pool":                                          takesOrder,
		"POST /api/v1/pools/:pool/grants":                                    takesOrder,
		"POST /api/v1/runs/:id/lease":                                        takesOrder,
		"POST /api/v1/runs/:id/phase":                                        takesOrder,
		"PUT /api/v1/runs/:id/log/:stream/:attempt":                          takesBody,
		"PUT /api/v1/runs/:id/artefacts/:kind/:attempt":                      takesPieces,
		"GET /api/v1/runs/:id/artefacts/:kind/:attempt":                      sendsPieces,
		"GET /api/v1/runs/:id/configuration":                                 sendsPieces,
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

// routeOf is the route that is asked, without what makes two asks of it different.
func routeOf(ask string) string {
	ask, _, _ = strings.Cut(ask, "?")
	ask, _, _ = strings.Cut(ask, " (")
	return ask
}
