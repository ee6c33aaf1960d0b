package middleware

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// RequestIDHeader carries the request ID in both directions.
const RequestIDHeader = "X-Request-ID"

const (
	// requestIDKey is how net/http spells it.
	requestIDKey       = "X-Request-Id"
	maxRequestIDLength = 128
)

// RequestID gives every request an ID: the caller's own when it is 1 to 128 letters,
// digits and `. _ -`, else a new UUID. It is returned in the answer and stands in every
// log line.
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(requestIDKey)
		if !validRequestID(id) {
			id = uuid.NewString()
		}
		c.Header(requestIDKey, id)
		r := infoOf(c)
		r.id = id
		r.lines.Add(slog.String("request_id", id))
		c.Next()
	}
}

// RequestIDOf returns the ID that RequestID gave; empty outside of its chain.
func RequestIDOf(ctx context.Context) string {
	if r := infoIn(ctx); r != nil {
		return r.id
	}
	return ""
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
