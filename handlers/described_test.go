package handlers_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/openapi"
)

// described serves a router, and fails the test on any answer that the OpenAPI document does not
// describe: its route, its status, its code, its media type, its headers and its body; and on a
// request that was accepted with a body that it does not describe. All tests of this package ask
// through it.
type described struct {
	t      testing.TB
	router handlers.Router
}

func (d described) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen, asked := &seenWriter{ResponseWriter: w}, &seenBody{ReadCloser: r.Body}
	encoded := r.Header.Get("Content-Encoding") != ""
	if r.Body != nil {
		r.Body = asked
	}
	d.router.ServeHTTP(seen, r)
	o, ok := d.router.OperationOf(r)
	if !ok || o.Method == http.MethodConnect {
		return
	}
	if err := theDocument().describes(o, seen); err != nil {
		d.t.Errorf("%s %s: %v", r.Method, r.URL.EscapedPath(), err)
	}
	if seen.status >= 300 || encoded || asked.cut {
		return
	}
	if err := theDocument().takes(o, asked.body.Bytes()); err != nil {
		d.t.Errorf("%s %s was accepted: %v", r.Method, r.URL.EscapedPath(), err)
	}
}

// seenBody notes what a request brings, as far as it is read.
type seenBody struct {
	io.ReadCloser
	body bytes.Buffer
	cut  bool
}

func (b *seenBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if b.body.Len()+n <= mostSeen {
		b.body.Write(p[:n])
	} else {
		b.cut = true
	}
	return n, err
}

// takes reports why a body that was accepted is none that the operation describes.
func (k *kept) takes(o openapi.Operation, body []byte) error {
	described, where := k.at(pointerOf(o) + "/requestBody")
	switch {
	case len(body) == 0 && (described == nil || described["required"] != true || o.Body.Contents[0].Media != mediaOfJSON):
		return nil // there is none, or bytes may be no bytes
	case described == nil:
		return fmt.Errorf("%s describes no body, and took one: %.300s", o.ID, body)
	case o.Body.Contents[0].Media != mediaOfJSON:
		return nil
	}
	return k.accepts(where+"/content/application~1json/schema", body, o.ID)
}

const mediaOfJSON = "application/json"

// seenWriter notes what is answered.
type seenWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	cut    bool
}

const mostSeen = 1 << 20

func (w *seenWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *seenWriter) Write(p []byte) (int, error) {
	w.status = max(w.status, http.StatusOK)
	if w.body.Len()+len(p) <= mostSeen {
		w.body.Write(p)
	} else {
		w.cut = true
	}
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (w *seenWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// Unwrap is for http.ResponseController.
func (w *seenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// text is the body as it was before it was compressed; nil where that is not known.
func (w *seenWriter) text() []byte {
	if w.cut {
		return nil
	}
	if w.Header().Get("Content-Encoding") != "gzip" {
		return w.body.Bytes()
	}
	unpacked, err := gzip.NewReader(&w.body)
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil
	}
	return text
}

// kept is the document that is kept, with its schemas.
type kept struct {
	all      map[string]any
	lock     sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

var theDocument = sync.OnceValue(func() *kept {
	all, err := jsonschema.UnmarshalJSON(strings.NewReader(api.OpenAPI()))
	if err != nil {
		panic(err)
	}
	k := &kept{all: all.(map[string]any), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	k.compiler.AssertFormat()
	if err := k.compiler.AddResource("mem:openapi.json", all); err != nil {
		panic(err)
	}
	return k
})

// schema returns the schema at a JSON Pointer.
func (k *kept) schema(pointer string) (*jsonschema.Schema, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if s := k.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := k.compiler.Compile("mem:openapi.json#" + pointer)
	k.schemas[pointer] = s
	return s, err
}

// at follows a JSON Pointer, and the references on it.
func (k *kept) at(pointer string) (found map[string]any, where string) {
	var value any = k.all
	for _, part := range strings.Split(pointer, "/")[1:] {
		object, _ := value.(map[string]any)
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		where += "/" + part
		if target, ok := value.(map[string]any); ok && target["$ref"] != nil && !strings.Contains(where, "/schema") {
			where = strings.TrimPrefix(target["$ref"].(string), "#")
			value, where = k.at(where)
		}
	}
	found, _ = value.(map[string]any)
	return found, where
}

// pointerOf is where an operation is described.
func pointerOf(o openapi.Operation) string {
	path := "/paths/" + strings.ReplaceAll(o.Path, "/", "~1")
	if o.Method == "LOCK" || o.Method == "UNLOCK" {
		return path + "/" + openapi.MoreMethods + "/" + o.Method
	}
	return path + "/" + strings.ToLower(o.Method)
}

func (k *kept) describes(o openapi.Operation, seen *seenWriter) error {
	answer, where := k.at(pointerOf(o) + "/responses/" + strconv.Itoa(seen.status))
	if answer == nil {
		return fmt.Errorf("the status %d is not described for %s: %.300s", seen.status, o.ID, seen.body.String())
	}
	if err := headersDescribed(answer, seen, o.ID); err != nil {
		return err
	}
	if seen.body.Len() == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(seen.Header().Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("the media type of %d of %s: %w", seen.status, o.ID, err)
	}
	described, _ := answer["content"].(map[string]any)
	if described[media] == nil && o.Method != http.MethodHead {
		return fmt.Errorf("the media type %s of %d is not described for %s", media, seen.status, o.ID)
	}
	if media != "application/json" || o.Method == http.MethodHead {
		return nil
	}
	return k.accepts(where+"/content/application~1json/schema", seen.text(), o.ID)
}

// headersDescribed looks at headers that are this interface's own.
func headersDescribed(answer map[string]any, seen *seenWriter, id string) error {
	headers := map[string]bool{}
	described, _ := answer["headers"].(map[string]any)
	for name := range described {
		headers[http.CanonicalHeaderKey(name)] = true
	}
	for name := range seen.Header() {
		if own := strings.HasPrefix(name, "X-Holdfast-") || name == "X-Digest" || name == "Idempotent-Replayed" ||
			name == "Etag"; !own || seen.status >= 300 {
			continue
		}
		if !headers[name] {
			return fmt.Errorf("the header %s of %d is not described for %s", name, seen.status, id)
		}
	}
	return nil
}

// accepts reports why a schema does not accept some JSON.
func (k *kept) accepts(pointer string, text []byte, id string) error {
	if text == nil || !json.Valid(text) {
		return nil // broken off, or a state that a test made wrong on purpose
	}
	schema, err := k.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var failure api.Failure
	_ = json.Unmarshal(text, &failure)
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("code %q of %s: %w in %.400s", failure.Code, id, err, text)
	}
	return nil
}

// The document is OpenAPI 3.1 by the schema of those who made that, and each of its schemas is one.
func TestOpenAPIDocumentIsValid(t *testing.T) {
	official, err := jsonschema.NewCompiler().Compile("testdata/openapi-3.1-schema.json")
	if err != nil {
		t.Fatal(err)
	}
	k := theDocument()
	if err := official.Validate(k.all); err != nil {
		t.Error(err)
	}
	schemas, _ := k.at("/components/schemas")
	for name := range schemas {
		if _, err := k.schema("/components/schemas/" + name); err != nil {
			t.Error(err)
		}
	}
	var names []string
	for _, o := range operations(t) {
		names = append(names, o.ID)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("some operations have the same ID: %v", names)
	}
}

func operations(t *testing.T) []openapi.Operation {
	t.Helper()
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	return router.Operations()
}
