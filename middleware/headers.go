package middleware

import "github.com/gin-gonic/gin"

// SecurityHeaders sets what every answer has, probes and errors included. It comes first
// in the chain: whatever answers, its answer has them.
//
// States have secrets in them, so nothing between keeps a copy, and a browser that is
// pointed here by mistake takes nothing for HTML. Over TLS it is told to come back over TLS
// only, for a year. What frames, loads and refers is the business of pages, which have
// headers of their own.
func SecurityHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("X-Content-Type-Options", "nosniff")
		c.Header("Cache-Control", "no-store")
		if c.Request.TLS != nil {
			c.Header("Strict-Transport-Security", "max-age=31536000")
		}
		c.Next()
	}
}
