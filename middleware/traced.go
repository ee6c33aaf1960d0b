package middleware

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/internal/spans"
)

// Traced has each request be a span of the trace that its client began, or of one of its own, and
// its log line name that. It stands behind RequestID, in front of all that makes spans.
func Traced(requests *spans.Requests) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := infoOf(c)
		ctx, span := requests.Begin(r.Context, c.Request.Header, knownMethod(c.Request.Method), c.FullPath(), r.id)
		r.Context = ctx
		r.lines.Add(slog.String("trace_id", span.TraceID()))
		defer func() { span.End(c.Writer.Status()) }()
		c.Next()
	}
}

// knownMethod keeps what strangers make up out of the names of spans.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "LOCK", "UNLOCK":
		return method
	}
	return "_OTHER"
}
