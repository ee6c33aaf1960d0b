package handlers_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/openapi"
)

var update = flag.Bool("update", false, "write api/openapi.json anew")

const documentPath = "../api/openapi.json"

// The document that is kept is the one that the types and the routes make, and its examples are
// what a server accepts and answers, one after the other.
func TestOpenAPIDocumentIsGenerated(t *testing.T) {
	all := operations(t)
	withExamples(t, all)
	comments, err := openapi.ReadComments("../api")
	if err != nil {
		t.Fatal(err)
	}
	document, err := handlers.Describe(all, comments)
	if err != nil {
		t.Fatal(err)
	}
	made, err := document.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(documentPath, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kept) {
		t.Errorf("%s is not what is made of the routes and of package api; run go test ./handlers -run OpenAPI -update",
			documentPath)
	}
}
