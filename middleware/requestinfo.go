package middleware

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/logctx"
	"github.com/holdfast/holdfast/internal/spans"
)

// requestInfo is what the chain knows of a request, and the request's context. There is one for
// each request, so that the request is copied once, whatever is known of it.
type requestInfo struct {
	context.Context
	lines     logctx.Attrs
	id        string
	client    string // address without port, or that it is unknown
	principal auth.Principal
	again     reverify           // nil where Authenticate did not run
	admission *admission         // nil without a guard in the chain
	session   *session.Session   // by which the caller has come in; nil for other credentials
	login     auth.Login         // how the caller has just signed in; see SignIn
	doors     *Doors             // nil for none
	span      *spans.Request     // nil where nobody asks for traces
	inside    uuid.UUID          // whose door it came in by; uuid.Nil for none
	statuses  map[fault.Code]int // of the route; see Statuses
	first     func() error       // asked before the body is read; see BeforeBody
}

type requestInfoKey struct{}

// Value implements context.Context.
func (r *requestInfo) Value(key any) any {
	switch key.(type) {
	case requestInfoKey:
		return r
	case logctx.Key:
		return &r.lines
	}
	return r.Context.Value(key)
}

// infoIn returns nil outside of the chain.
func infoIn(ctx context.Context) *requestInfo {
	if r, ok := ctx.(*requestInfo); ok {
		return r
	}
	r, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return r
}

// infoOf returns the request's info, and makes it for whoever comes first.
func infoOf(c *gin.Context) *requestInfo {
	if r := infoIn(c.Request.Context()); r != nil {
		return r
	}
	ctx := c.Request.Context()
	r := &requestInfo{Context: ctx}
	withContext(c, r)
	return r
}

// Annotate adds attributes to every further log line of this request.
func Annotate(c *gin.Context, attrs ...slog.Attr) { infoOf(c).lines.Add(attrs...) }

func withContext(c *gin.Context, ctx context.Context) { c.Request = c.Request.WithContext(ctx) }
