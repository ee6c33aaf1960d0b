package middleware

import "github.com/gin-gonic/gin"

// SecurityHeaders sets what every answer has, probes and errors included. It comes first
// in the chain: whatever answers, its answer has them.
//
// States have secrets in them, so nothing between keeps a copy, and a browser that is
// pointed here by mistake takes nothing for HTML and shows it in no frame. Over TLS it is told
// to come back over TLS only, for a year. What pages load and refer to is in headers of their own.
func SecurityHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("X-Content-Type-Options", "nosniff")
		c.Header("Cache-Control", "no-store")
		c.Header("Content-Security-Policy", "frame-ancestors 'none'")
		c.Header("X-Frame-Options", "DENY") // for those that don't know frame-ancestors
		if c.Request.TLS != nil {
			c.Header("Strict-Transport-Security", "max-age=31536000")
		}
		c.Next()
	}
}
