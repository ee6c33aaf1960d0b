package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/openapi"
)

// The addresses of the description, for programs and for people.
const (
	descriptionPath = "/api/openapi.json"
	pagePath        = "/api/docs"
)

// description serves what describes the interface. It is the same for everybody.
type description struct{}

// descriptionPage is made when somebody first asks: a program has one description.
var descriptionPage = sync.OnceValues(func() ([]byte, error) { return openapi.Page(api.OpenAPI()) })

func routeDescription(s section) {
	var d description
	s = s.tagged(tagDescription)
	condition := headerOf("If-None-Match", "Tags of what the caller has.")
	s.route("GET", descriptionPath, op("getOpenAPI", "This description").with(condition).
		answers(http.StatusOK, openapi.Content{Media: mediaJSON,
			Schema: openapi.Of("object")}).givesNothing(http.StatusNotModified).headed("ETag").anyOther(), d.document)
	s.route("GET", pagePath, op("getDocs", "This description as a page for people").with(condition).
		givesBytes(mediaHTML).givesNothing(http.StatusNotModified).headed("ETag").anyOther(), d.forPeople)
}

func (d description) document(context.Context, *request) (answer, error) {
	return unchanging{"application/json; charset=utf-8", []byte(api.OpenAPI()), ""}, nil
}

func (d description) forPeople(context.Context, *request) (answer, error) {
	page, err := descriptionPage()
	return unchanging{"text/html; charset=utf-8", page, openapi.PagePolicy()}, err
}

// unchanging is an answer that is the same until another version of the server gives it. Caches may
// keep it, and ask whether it is still so.
type unchanging struct {
	media  string
	body   []byte
	policy string // Content-Security-Policy; empty for none
}

func (u unchanging) send(c *gin.Context) error {
	sum := sha256.Sum256(u.body)
	tag := strconv.Quote(hex.EncodeToString(sum[:]))
	header := c.Writer.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", tag)
	if u.policy != "" {
		header.Set("Content-Security-Policy", u.policy)
		header.Set("Referrer-Policy", "no-referrer")
	}
	if matches(c.GetHeader("If-None-Match"), tag) != "" {
		c.Status(http.StatusNotModified)
		return nil
	}
	c.Data(http.StatusOK, u.media, u.body)
	return nil
}
