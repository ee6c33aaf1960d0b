package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// handler answers one kind of request. One that has read something of the query or the path asks
// by err, before it does anything, whether that could be read.
type handler func(ctx context.Context, r *request) (answer, error)

// serve has a handler answer a request.
func serve(c *gin.Context, r *request, h handler) {
	said, err := h(c.Request.Context(), r)
	if err == nil {
		_, end := spans.Start(c.Request.Context(), "write answer")
		err = said.send(c)
		end(err)
	}
	if err != nil {
		middleware.Fail(c, notAbsent(c.Request, err))
	}
}

// request is what a handler is asked: who is calling, and the parts of the HTTP request, each
// read by what it is.
type request struct {
	caller auth.Principal
	header http.Header
	query
	c *gin.Context
}

// reads returns what reads requests to the route.
func (o operation) reads() func(c *gin.Context) *request {
	known := o.queried()
	return func(c *gin.Context) *request {
		asked := parseQuery(c.Request.URL.RawQuery, known, o.OtherParameters)
		return &request{caller: middleware.Principal(c), header: c.Request.Header, query: asked, c: c}
	}
}

// body returns the body's bytes, which middleware.Admit has read; nil without one.
func (r *request) body() []byte { return middleware.Body(r.c) }

// annotate adds attributes to every further log line of the request.
func (r *request) annotate(attrs ...slog.Attr) { middleware.Annotate(r.c, attrs...) }

// inPath returns what stands in the route's place of this name, as the client meant it: in a
// path, unlike a query, "+" is a plus sign. What can't be unescaped stays as it is, and is
// refused by whoever reads it: net/http accepts no such path.
func (r *request) inPath(name string) string {
	escaped := r.c.Param(name)
	if value, err := url.PathUnescape(escaped); err == nil {
		return value
	}
	return escaped
}

// segment is inPath where no slash can stand, not even as %2F: otherwise it has the fault that is given. To look for
// such a thing would be answered by 404, which some clients take for an empty state.
func (r *request) segment(name string, code fault.Code, otherwise string) string {
	value := r.inPath(name)
	if strings.Contains(value, "/") {
		r.check(fault.New(code, "%s", otherwise))
	}
	return value
}

// version reads the version's number from the path.
func (r *request) version() uint64 {
	number, err := strconv.ParseUint(r.inPath("version"), 10, 63)
	if err != nil || number == 0 {
		r.invalid("a version is a number of 1 or more")
	}
	return number
}

// candidate reads the candidate's ID from the path.
func (r *request) candidate() string {
	id := r.inPath("id")
	if !state.IsCandidateID(id) {
		r.invalid("a candidate's ID has %d hexadecimal digits", state.CandidateIDLength)
	}
	return id
}

// lockIDParameter is where clients put a lock's ID.
const lockIDParameter = "ID"

// lockID reads the ID that clients put on every write under a lock; empty without one.
func (r *request) lockID() string {
	id, given := r.get(lockIDParameter)
	if given {
		r.check(state.CheckLockID(id))
	}
	return id
}

// unlocked reads the lock that an UNLOCK is about from the body, as clients send it, or its ID
// from ?ID=, for those whose DELETE has no body. Neither is Terraform's force-unlock.
func (r *request) unlocked(body []byte) state.LockInfo {
	id := r.lockID()
	if len(body) == 0 {
		return state.LockInfo{ID: id}
	}
	info, err := state.ParseLockInfo(body)
	r.check(err)
	if err == nil && id != "" && id != info.ID {
		r.invalid("the query and the body name different lock IDs")
	}
	return info
}

// condition reads what a change is tied to.
func (r *request) condition() state.Condition {
	only, err := readCondition(r.header)
	r.check(err)
	return only
}

// check remembers an error, if it is one and the first.
func (r *request) check(err error) {
	if err != nil {
		r.fail(err)
	}
}
