package middleware

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// PageHeaders sets what answers have that a browser shows as a page: nothing is loaded from
// elsewhere, nothing written into the document is executed or styles it, and nobody frames it,
// shares its process or embeds its files. Answers of the API have none of these: no browser shows them.
func PageHeaders() gin.HandlerFunc {
	policy := strings.Join(pagePolicy(), "; ")
	return func(c *gin.Context) {
		c.Header("Content-Security-Policy", policy)
		c.Header("Cross-Origin-Opener-Policy", "same-origin")
		c.Header("Cross-Origin-Resource-Policy", "same-origin")
		// Not no-referrer: with it, browsers leave the origin out of a form that is sent.
		c.Header("Referrer-Policy", "same-origin")
		c.Header("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		c.Header("X-Frame-Options", "DENY") // for those that don't know frame-ancestors
		c.Next()
	}
}

func pagePolicy() []string {
	return []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "font-src 'self'",
		"connect-src 'self'", "worker-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'",
		"frame-ancestors 'none'", "require-trusted-types-for 'script'",
	}
}
