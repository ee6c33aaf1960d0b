package middleware

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// PageHeaders sets what answers have that a browser shows as a page: nothing is loaded from
// elsewhere, nothing written into the document is executed or styles it, and nobody frames it,
// shares its process or embeds its files. Of these, answers of the API have that nobody frames them.
//
// Documents below the path of the editor have one rule less: its editor of text places each line by a
// style attribute in the markup that it makes, and brings its colours in style elements. Scripts are as
// restricted there as everywhere. Markup comes from its own policies of trusted types alone, which are named;
// no other document has any, so that no text becomes markup or the address of a script there.
func PageHeaders(editor string) gin.HandlerFunc {
	policy := strings.Join(pagePolicy("style-src 'self'", "trusted-types 'none'"), "; ")
	ofEditor := strings.Join(pagePolicy("style-src 'self' 'unsafe-inline'", editorTypes()), "; ")
	return func(c *gin.Context) {
		if strings.HasPrefix(c.Request.URL.Path, editor) {
			c.Header("Content-Security-Policy", ofEditor)
		} else {
			c.Header("Content-Security-Policy", policy)
		}
		c.Header("Cross-Origin-Opener-Policy", "same-origin")
		c.Header("Cross-Origin-Resource-Policy", "same-origin")
		// Not no-referrer: with it, browsers leave the origin out of a form that is sent.
		c.Header("Referrer-Policy", "same-origin")
		c.Header("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		c.Next()
	}
}

// editorTypes names the policies that the editor's page makes: one of ours for its workers, and those of
// Monaco.
func editorTypes() string {
	return "trusted-types " + strings.Join([]string{"holdfast-workers", "defaultWorkerFactory", "diffEditorWidget",
		"diffReview", "domLineBreaksComputer", "dompurify", "editorGhostText", "editorViewLayer", "richScreenReaderContent",
		"standaloneColorizer", "stickyScrollViewLayer", "tokenizeToString"}, " ")
}

func pagePolicy(styles, types string) []string {
	return []string{
		"default-src 'none'", "script-src 'self'", styles, "img-src 'self' data:", "font-src 'self'",
		"connect-src 'self'", "worker-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'",
		"frame-ancestors 'none'", "require-trusted-types-for 'script'", types,
	}
}
