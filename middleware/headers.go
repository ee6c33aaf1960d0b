package middleware

import "github.com/gin-gonic/gin"

// SecurityHeaders sets what every answer has, probes and errors included. It comes first
// in the chain: whatever answers, its answer has them.
//
// A browser is not meant to be pointed at this service. If one is, it takes nothing for
// HTML, loads and frames nothing, sends its address nowhere, and keeps no copy. Over TLS
// it is told to come back over TLS only, for a year.
func SecurityHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store") // states have secrets in them
		if c.Request.TLS != nil {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		c.Next()
	}
}
