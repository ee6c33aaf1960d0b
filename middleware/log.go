package middleware

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// What a stranger can make long is cut in the log.
const (
	maxLoggedPath   = 256
	maxLoggedMethod = 32
)

// Log writes one line for each request when it is answered, or broken off. The query
// string stays out of it: it carries lock IDs.
func Log(log *slog.Logger, now func() time.Time) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := now()
		aborted := true // unless Next returns
		defer func() { write(c, log, now().Sub(start), aborted) }()
		c.Next()
		aborted = false
	}
}

func write(c *gin.Context, log *slog.Logger, took time.Duration, aborted bool) {
	infoOf(c).trace(false) // of a stranger, or of a route for anybody
	status := c.Writer.Status()
	attrs := []slog.Attr{
		slog.String("method", cut(c.Request.Method, maxLoggedMethod)),
		slog.String("path", cut(typedPath(c.Request), maxLoggedPath)),
		slog.Int("status", status),
		slog.Int("bytes", max(c.Writer.Size(), 0)),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.String("client", clientOf(c)),
	}
	if aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	if last := c.Errors.Last(); last != nil {
		attrs = append(attrs, slog.String("error", last.Err.Error()))
	}
	log.LogAttrs(c.Request.Context(), level(c, status), "request", attrs...)
}

// typedPath is the path as the client has sent it: routes may have it in another spelling.
func typedPath(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasPrefix(path, "/") {
		return path
	}
	return r.URL.EscapedPath()
}

func cut(text string, length int) string {
	if len(text) > length {
		return text[:length] + "…"
	}
	return text
}

// level keeps probes, which come every few seconds, out of an ordinary log. What this configuration doesn't
// offer is no error, nor is what a stranger is refused for want of something: else anybody could raise alarms.
func level(c *gin.Context, status int) slog.Level {
	route := c.FullPath()
	probe := route == "/health" || route == "/livez" || route == "/readyz" || route == "/metrics"
	stranger := Principal(c).Org == uuid.Nil
	switch {
	case status > http.StatusInternalServerError && status != http.StatusNotImplemented && stranger && !probe:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return slog.LevelError
	case probe:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}
