package middleware

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/holdfast/holdfast/logctx"
)

// RequestIDHeader carries the request ID in both directions.
const RequestIDHeader = "X-Request-ID"

const maxRequestIDLength = 128

type requestIDKey struct{}

// RequestID gives every request an ID: the caller's own when it is 1 to 128 letters,
// digits and `. _ -`, else a new UUID. It is returned in the answer and stands in every
// log line.
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(RequestIDHeader)
		if !validRequestID(id) {
			id = uuid.NewString()
		}
		c.Header(RequestIDHeader, id)
		ctx := context.WithValue(c.Request.Context(), requestIDKey{}, id)
		withContext(c, logctx.With(ctx, slog.String("request_id", id)))
		c.Next()
	}
}

// RequestIDOf returns the ID that RequestID gave; empty outside of its chain.
func RequestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// validRequestID keeps what a stranger sends out of log lines unless it is harmless.
func validRequestID(id string) bool {
	if id == "" || len(id) > maxRequestIDLength {
		return false
	}
	for i := range len(id) {
		switch b := id[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		case b == '.', b == '_', b == '-':
		default:
			return false
		}
	}
	return true
}

// Annotate adds attributes to every further log line of this request.
func Annotate(c *gin.Context, attrs ...slog.Attr) {
	withContext(c, logctx.With(c.Request.Context(), attrs...))
}

func withContext(c *gin.Context, ctx context.Context) { c.Request = c.Request.WithContext(ctx) }
