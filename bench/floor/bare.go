package floor

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

const jsonType = "application/json"

// NewFixed returns a handler that answers each GET of a state with the same bytes: the
// floor of reads. POST and DELETE are there for who prepares a run, and do nothing.
func NewFixed(body []byte) http.Handler {
	router := newRouter()
	router.GET(statePath, func(c *gin.Context) { c.Data(http.StatusOK, jsonType, body) })
	router.POST(statePath, func(c *gin.Context) {
		if _, err := readBody(c.Request); err == nil {
			succeed(c)
		}
	})
	router.DELETE(statePath, succeed)
	return router
}

// NewUploads returns a handler that appends what is uploaded to the log, as it came: the
// floor of uploads.
func NewUploads(log *Log) http.Handler {
	router := newRouter()
	router.POST("/api/v1/upload", func(c *gin.Context) {
		body, err := readBody(c.Request)
		if err == nil {
			err = log.Append(body)
		}
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		succeed(c)
	})
	return router
}

func succeed(c *gin.Context) {
	c.Data(http.StatusOK, jsonType, []byte(`{"status":"success"}`))
}
