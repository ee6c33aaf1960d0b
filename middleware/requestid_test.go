package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/logctx"
	"github.com/holdfast/holdfast/middleware"
)

// What a stranger sends goes into every log line, so that only harmless IDs are taken.
func TestRequestID(t *testing.T) {
	long := strings.Repeat("x", 128)
	for _, id := range []string{"r-1", "7", "A.b_c-9", "...", uuid.NewString(), long} {
		if got := requestID(t, id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	seen := map[string]bool{}
	for _, id := range []string{
		"", long + "x", strings.Repeat("x", 100_000), " ", " r-1", "r-1 ", "r 1", "r\t1", "r\n1", "r\r\n1", "r-1\n", "r\x001",
		"r\x7f1",
		"r/1", `r"1`, `r\1`, "r,1", "r;1", "r=1", "{r}", "r:1", "r+1", "r%201", "r<1>", "é", "r\xff1", "\u202er",
	} {
		got := requestID(t, id)
		if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(got) || seen[got] {
			t.Errorf("%.40q became %q; want a new UUID", id, got)
		}
		seen[got] = true
	}
}

// requestID sends a request with this ID and returns the one that it got: the same to the
// client, to handlers and in the log.
func requestID(t *testing.T, sent string) string {
	t.Helper()
	var log bytes.Buffer
	logger := slog.New(logctx.Handler(slog.NewTextHandler(&log, nil)))
	var inside string
	router := newRouter(middleware.RequestID(), func(c *gin.Context) {
		inside = middleware.RequestIDOf(c.Request.Context())
		logger.InfoContext(c.Request.Context(), "served")
		c.Status(http.StatusOK)
	})
	r := request("GET")
	r.Header["X-Request-Id"] = []string{sent} // as it is, also where a client could not send it
	returned := serve(router, r).Header().Values(middleware.RequestIDHeader)
	if len(returned) != 1 || returned[0] != inside || !strings.HasSuffix(log.String(), " request_id="+inside+"\n") {
		t.Fatalf("%.40q: the client got %q, handlers %q, the log %q", sent, returned, inside, &log)
	}
	return inside
}

func TestNoRequestIDOutsideOfTheChain(t *testing.T) {
	if id := middleware.RequestIDOf(context.Background()); id != "" {
		t.Errorf("it is %q", id)
	}
}
