package middleware

import "github.com/gin-gonic/gin"

// SecurityHeaders sets what every answer has, probes and errors included. It comes first
// in the chain: whatever answers, its answer has them.
//
// A browser is not meant to be pointed at this service. If one is, it takes nothing for
// HTML, loads and frames nothing, sends its address nowhere, and keeps no copy. Over TLS
// it is told to come back over TLS only, for a year.
func SecurityHeaders() gin.HandlerFunc {
	always := []struct {
		name  string // as net/http spells it
		value []string
	}{
		{"X-Content-Type-Options", []string{"nosniff"}},
		{"Content-Security-Policy", []string{"default-src 'none'; frame-ancestors 'none'"}},
		{"Referrer-Policy", []string{"no-referrer"}},
		{"X-Frame-Options", []string{"DENY"}},
		{"Cross-Origin-Resource-Policy", []string{"same-origin"}},
		{"Cache-Control", []string{"no-store"}}, // states have secrets in them
	}
	return func(c *gin.Context) {
		header := c.Writer.Header()
		for _, one := range always {
			header[one.name] = one.value // which is full: who adds to it gets a copy
		}
		if c.Request.TLS != nil {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		c.Next()
	}
}
