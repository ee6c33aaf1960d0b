package middleware

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/internal/spans"
)

// Traced has each request be a span, and its log line name the trace: that of the client, once the
// client is known, or one of its own. It stands behind RequestID, in front of all that makes spans.
func Traced(requests *spans.Requests) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := infoOf(c)
		r.Context, r.span = requests.Begin(r.Context, c.Request.Header, knownMethod(c.Request.Method), c.FullPath(), r.id)
		r.nameTrace()
		defer func() { r.span.End(c.Writer.Status()) }()
		c.Next()
	}
}

// trace settles which trace the request belongs to, if that is open: known says that its sender has
// credentials.
func (r *requestInfo) trace(known bool) {
	if r.span == nil || r.span.TraceID() != "" {
		return
	}
	r.Context = r.span.Settle(r.Context, known)
	r.nameTrace()
}

func (r *requestInfo) nameTrace() {
	if id := r.span.TraceID(); id != "" {
		r.lines.Add(slog.String("trace_id", id))
	}
}

// knownMethod keeps what strangers make up out of the names of spans.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, "LOCK", "UNLOCK":
		return method
	}
	return "_OTHER"
}
