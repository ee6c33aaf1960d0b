package middleware

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"
)

// Recover turns a panic into a logged 500, so that one bad request ends alone. When the
// answer has already begun, the connection is cut instead: a half answer must not look
// whole.
func Recover(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}
			log.ErrorContext(c.Request.Context(), "panic", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			if c.Writer.Written() {
				panic(http.ErrAbortHandler)
			}
			Fail(c, fmt.Errorf("panic: %v", cause))
		}()
		c.Next()
	}
}
