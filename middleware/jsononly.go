package middleware

import (
	"context"
	"mime"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
)

type jsonBodyKey struct{}

// ReadBody reads a request's whole body, of at most limit bytes.
type ReadBody func(c *gin.Context, limit int64) ([]byte, error)

// JSONOnly lets a request pass only when its body says that it is JSON; JSONBody then
// returns it, unchecked, without its Content-Encoding. It stands behind Authenticate:
// nobody's body is read before it is known whose it is. limit, in bytes, holds for the body
// as it is sent and for what it expands to.
func JSONOnly(limit int64, read ReadBody) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := infoOf(c).beforeBody()
		if err == nil {
			err = checkMedia(c.Request.Header)
		}
		if err != nil {
			Fail(c, err)
			return
		}
		body, err := readDecoded(c, read, limit)
		if err != nil {
			Fail(c, err)
			return
		}
		withContext(c, context.WithValue(c.Request.Context(), jsonBodyKey{}, body))
		c.Next()
	}
}

// JSONBody returns the body that JSONOnly let pass; nil where it did not run.
func JSONBody(c *gin.Context) []byte {
	body, _ := c.Request.Context().Value(jsonBodyKey{}).([]byte)
	return body
}

// checkMedia takes application/json and what is built on it, in UTF-8, as it is or in
// gzip. No Content-Type counts as JSON: there is nothing else that it could be.
func checkMedia(header http.Header) error {
	if err := checkEncoding(header); err != nil {
		return err
	}
	values := header.Values("Content-Type")
	if len(values) == 0 {
		return nil
	}
	media, parameters, err := mime.ParseMediaType(values[0])
	if err != nil || len(values) > 1 || !isJSON(media) {
		return fault.New(fault.MediaUnsupported, "the Content-Type is not application/json")
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.MediaUnsupported,
			"the Content-Type has another charset than utf-8, which is the only one that JSON has")
	}
	return nil
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}
