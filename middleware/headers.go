package middleware

import "github.com/gin-gonic/gin"

// SecurityHeaders sets what every answer has, probes and errors included. It comes first
// in the chain: whatever answers, its answer has them.
//
// A browser is not meant to be pointed at this service. If one is, it takes nothing for
// HTML, loads and frames nothing, sends its address nowhere, and keeps no copy. Over TLS
// it is told to come back over TLS only, for a year.
func SecurityHeaders() gin.HandlerFunc {
	always := []struct{ name, value string }{
		{"X-Content-Type-Options", "nosniff"},
		{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Frame-Options", "DENY"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cache-Control", "no-store"}, // states have secrets in them
	}
	return func(c *gin.Context) {
		for _, one := range always {
			setLine(c, one.name, one.value)
		}
		if c.Request.TLS != nil {
			c.Header("Strict-Transport-Security", "max-age=31536000")
		}
		c.Next()
	}
}
