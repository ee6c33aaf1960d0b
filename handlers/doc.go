// Package handlers is Holdfast's HTTP face: router.go is the map of every route, the
// other files parse a request, call one service method and render its answer.
package handlers
