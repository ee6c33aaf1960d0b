// Package api has every JSON shape of Holdfast's HTTP interface as one Go type: the server
// encodes them, package client and the command line decode them.
//
// The order of the fields is that of the members on the wire. A time is in RFC 3339, in UTC. A
// member is always there unless its field is marked omitempty or its comment says when it is
// absent or null. A decoder must pass over members that it does not know: later servers send
// more. Two things have no type here: the bytes of a state, which are the client's own, and
// the text of /metrics.
package api
