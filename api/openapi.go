package api

import _ "embed" // for the document

//go:embed openapi.json
var document string

// OpenAPI returns the description of the interface in OpenAPI 3.1. It is generated from the types of
// this package and from the table of the server's routes.
func OpenAPI() string { return document }
