package middleware

import (
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"
)

const maxLoggedPath = 256

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
	status := c.Writer.Status()
	attrs := []slog.Attr{
		slog.String("method", c.Request.Method),
		slog.String("path", loggedPath(c)),
		slog.Int("status", status),
		slog.Int("bytes", max(c.Writer.Size(), 0)),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.String("client", c.ClientIP()),
	}
	if aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	if last := c.Errors.Last(); last != nil {
		attrs = append(attrs, slog.String("error", last.Err.Error()))
	}
	log.LogAttrs(c.Request.Context(), level(c.FullPath(), status), "request", attrs...)
}

func loggedPath(c *gin.Context) string {
	path := c.Request.URL.EscapedPath()
	if len(path) > maxLoggedPath {
		return path[:maxLoggedPath] + "…"
	}
	return path
}

// level keeps probes, which come every few seconds, out of an ordinary log.
func level(route string, status int) slog.Level {
	switch {
	case status >= 500:
		return slog.LevelError
	case route == "/health" || route == "/livez" || route == "/readyz" || route == "/metrics":
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}
