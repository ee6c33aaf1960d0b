package handlers_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
)

// panicking serves the router with one more route, /panic, whose handler panics after
// begin. It passes the same middleware as every other.
func panicking(t *testing.T, deps handlers.Deps, begin gin.HandlerFunc, cause any) *httptest.Server {
	t.Helper()
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	router.GET("/panic", begin, func(*gin.Context) { panic(cause) })
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server
}

// A panic before the answer has begun is one failed request, and tells nothing.
func TestPanicBeforeTheAnswer(t *testing.T) {
	deps := testDeps(t)
	log := newJournal(t, &deps)
	c := newCaller(t, panicking(t, deps, func(*gin.Context) {}, secretCause), acme, acmeKey)
	wantFailure(t, "GET /panic", c.do("GET /panic", ""), fault.InternalError)
	c.converse([]step{{"GET /livez", "", 200, "alive"}, {"POST /api/v1/state/x", body(1), 200, ""}})

	lines := log.named("panic")
	if len(lines) != 1 || lines[0]["level"] != "ERROR" || lines[0]["cause"] != secretCause ||
		lines[0]["request_id"] == "" {
		t.Fatalf("logged %v", lines)
	}
	if stack, _ := lines[0]["stack"].(string); !strings.Contains(stack, "panic_test.go") {
		t.Errorf("the stack does not say where it was: %s", stack)
	}
}

// A panic within the answer cuts the connection: half a state must not look whole.
func TestPanicWithinTheAnswer(t *testing.T) {
	for name, begin := range map[string]gin.HandlerFunc{
		"in the buffer": func(c *gin.Context) { c.String(200, "half a st") },
		"sent":          func(c *gin.Context) { c.String(200, "half a st"); c.Writer.Flush() },
		"of a known length": func(c *gin.Context) {
			c.Header("Content-Length", "15")
			c.String(200, "half a st")
			c.Writer.Flush()
		},
		"only the status": func(c *gin.Context) { c.Status(200); c.Writer.WriteHeaderNow() },
	} {
		t.Run(name, func(t *testing.T) { wantCut(t, begin, secretCause) })
	}
}

// The panic that net/http has for it cuts the connection, whatever was sent.
func TestAbortCutsTheConnection(t *testing.T) {
	wantCut(t, func(*gin.Context) {}, http.ErrAbortHandler)
}

func wantCut(t *testing.T, begin gin.HandlerFunc, cause any) {
	t.Helper()
	c := newCaller(t, panicking(t, testDeps(t), begin, cause), acme, acmeKey)
	if got, err := c.client.Get(c.url + "/panic"); err == nil {
		defer got.Body.Close()
		if text, err := io.ReadAll(got.Body); err == nil {
			t.Errorf("a whole answer: %d %q", got.StatusCode, text)
		}
	}
	c.converse([]step{{"GET /livez", "", 200, "alive"}})
}
