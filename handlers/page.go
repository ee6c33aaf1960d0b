package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/links"
	"github.com/holdfast/holdfast/middleware"
)

// PagePath is what all addresses of the page begin with, and nothing else: neither those of the API
// nor, but for tenantState, those of a client.
const PagePath = links.Page

// tenantState is an address of a state, where a dialect is spoken in which a tenant may be called
// as the page's corner is: the page leaves it alone.
const tenantState = PagePath + "state/"

// editorPath is where the documents of the editor of files are: see middleware.PageHeaders.
const editorPath = PagePath + "editor/"

// pages serves the page: files that are the same for everybody, so without credentials. What they
// show, they ask the API for.
type pages struct {
	// files returns them by their paths behind PagePath; none while there is no page.
	files func() map[string]*pageFile
	// built says that there will be one, though it may not be there yet.
	built bool
}

// indexName is the document at all of the page's own addresses.
const indexName = "index.html"

// route has the router serve the page.
func (p pages) route(router gin.IRoutes) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		router.Handle(method, strings.TrimSuffix(PagePath, "/"), middleware.PageHeaders(editorPath), p.serve)
		router.Handle(method, PagePath+"*path", middleware.PageHeaders(editorPath), p.serve)
	}
}

// front sends browsers to the page, and answers everybody else as line does.
func (p pages) front(line gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if !p.built {
			line(c)
			return
		}
		c.Header("Vary", "Accept")
		if !wantsPage(c.Request) {
			line(c)
			return
		}
		c.Redirect(http.StatusSeeOther, PagePath)
	}
}

// wantsPage reports whether a browser asks for a document: other clients take anything.
func wantsPage(r *http.Request) bool {
	return negotiate(strings.Join(r.Header.Values("Accept"), ","), mediaText, mediaHTML) == mediaHTML
}

// serve sends a file, or the document at an address that the page itself knows.
func (p pages) serve(c *gin.Context) {
	name := strings.TrimPrefix(strings.TrimPrefix(c.Request.URL.Path, strings.TrimSuffix(PagePath, "/")), "/")
	files := p.files()
	file, ok := files[name]
	switch {
	case files == nil:
		p.absent(c)
	case ok:
		file.send(c)
	case strings.HasPrefix(name, hashedPath), strings.HasPrefix(c.Request.URL.Path, tenantState), name != "" &&
		!wantsPage(c.Request):
		noRoute(c)
	default:
		files[indexName].send(c)
	}
}

// absent says why there is no page. Who waits for one that is being built sees it come.
func (p pages) absent(c *gin.Context) {
	if p.built {
		c.Header("Refresh", "2")
		middleware.Fail(c, fault.New(fault.RouteUnknown,
			"the page is not built yet; `make run` takes half a minute for it, and says if it can't"))
		return
	}
	middleware.Fail(c, fault.New(fault.RouteUnknown,
		"this program was built without the page; `make web` builds it, with Node, before `make build`"))
}

// send sends the file in the smallest form that the browser takes.
func (f *pageFile) send(c *gin.Context) {
	header := c.Writer.Header()
	header.Set("ETag", f.tag)
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", f.keep())
	if hasTag(c.Request.Header, f.tag) {
		c.Status(http.StatusNotModified)
		return
	}
	coding, body := f.coded(strings.Join(c.Request.Header.Values("Accept-Encoding"), ","))
	if coding != "" {
		header.Set("Content-Encoding", coding)
	}
	c.Data(http.StatusOK, f.media, body)
}

// keep is for how long a browser needs not ask again.
func (f *pageFile) keep() string {
	if f.hashed {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// hasTag reports whether the browser has what the tag is of.
func hasTag(header http.Header, tag string) bool {
	var given []string
	for _, line := range header.Values("If-None-Match") {
		for one := range strings.SplitSeq(line, ",") {
			given = append(given, strings.TrimPrefix(strings.TrimSpace(one), "W/"))
		}
	}
	return slices.Contains(given, strings.TrimPrefix(tag, "W/")) || slices.Contains(given, "*")
}

func (f *pageFile) coded(accepted string) (coding string, body []byte) {
	switch {
	case f.brotli != nil && acceptsCoding(accepted, "br"):
		return "br", f.brotli
	case f.gzip != nil && acceptsCoding(accepted, "gzip"):
		return "gzip", f.gzip()
	}
	return "", f.plain
}
