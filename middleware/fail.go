package middleware

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// blocked is an error because of a lock that somebody else holds, which it has as its holder
// described it: the JSON object that clients send with a LOCK.
type blocked interface {
	error
	InTheWay() json.RawMessage
}

// unreadBody is how long what no handler reads of a request's body may take to arrive.
const unreadBody = time.Second

// Fail answers with the error and ends the chain. The error's cause goes to the log only.
func Fail(c *gin.Context, err error) {
	_ = c.Error(err) // for the request's log line
	c.Abort()
	f := fault.From(err)
	dropBody(c, f)
	setHeaders(c, f)
	status := statusOf(c, f.Code)
	by, isBlocked := errors.AsType[blocked](err)
	if isBlocked && f.Code == fault.LockHeld {
		c.Data(status, "application/json", by.InTheWay())
		return
	}
	failure := api.Failure{Status: "error", Code: api.ErrorCode(f.Code), Message: f.Message, Details: detailsOf(f),
		RequestID: RequestIDOf(c.Request.Context())}
	if isBlocked {
		failure.Lock = by.InTheWay()
	}
	c.JSON(status, failure)
}

func detailsOf(f *fault.Error) (all []api.Detail) {
	for _, detail := range f.Details {
		all = append(all, api.Detail(detail))
	}
	return all
}

// dropBody gives what is left of a refused request's body its time. Who was too slow has
// had it.
func dropBody(c *gin.Context, f *fault.Error) {
	if f.Code.Kind() == fault.Timeout {
		_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now())
		return
	}
	limitUnread(c)
}

// limitUnread keeps a request from holding its connection, and whatever else it has taken,
// for a body that no handler reads: the server reads on to its end before it answers, and
// that may never come. HTTP/2 doesn't read on, and there a deadline can't be moved once it
// has passed, so that a body would suffer that is read after all.
func limitUnread(c *gin.Context) {
	if c.Request.ContentLength != 0 && c.Request.ProtoMajor == 1 {
		_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(unreadBody))
	}
}

func setHeaders(c *gin.Context, f *fault.Error) {
	if f.RetryAfter > 0 {
		seconds := int((f.RetryAfter + time.Second - 1) / time.Second)
		c.Header("Retry-After", strconv.Itoa(seconds))
	}
	if f.Code.Kind() == fault.Timeout && c.Request.ProtoMajor == 1 {
		c.Header("Connection", "close") // whatever is still to come of the body is not waited for
	}
	if f.Code.Kind() == fault.Unauthenticated {
		c.Header("WWW-Authenticate", challengeFor(c.Request))
	}
}

// challengeFor says how to come in. A page's script that is told of Basic has its browser ask for a
// name and a password, in a dialog of its own: so a page is told of sessions, which none knows.
func challengeFor(r *http.Request) string {
	mode := r.Header.Get("Sec-Fetch-Mode")
	if mode != "" && mode != "navigate" || len(r.CookiesNamed(cookieName)) > 0 ||
		len(r.CookiesNamed(securePrefix+cookieName)) > 0 || strings.HasPrefix(r.URL.Path, sessionPath) {
		return `Session realm="holdfast"`
	}
	return `Basic realm="holdfast", charset="UTF-8"`
}

// sessionPath is what the addresses begin with that are about sessions.
const sessionPath = "/api/v1/session"

// Statuses has faults of some codes answered with another status than that of their kind, because
// the clients of a route know it from another server. None may be what says that there is no state.
func Statuses(of func(*gin.Context) map[fault.Code]int) gin.HandlerFunc {
	return func(c *gin.Context) {
		infoOf(c).statuses = of(c)
		c.Next()
	}
}

func statusOf(c *gin.Context, code fault.Code) int {
	if status, ok := infoOf(c).statuses[code]; ok {
		return status
	}
	return StatusOf(code.Kind())
}

// StatusOf is the one table from a fault's kind to an HTTP status.
func StatusOf(kind fault.Kind) int {
	switch kind {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.PreconditionFailed:
		return http.StatusPreconditionFailed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.Timeout:
		return http.StatusRequestTimeout
	case fault.TooMany:
		return http.StatusTooManyRequests
	case fault.Unprocessable:
		return http.StatusUnprocessableEntity
	case fault.NotImplemented:
		return http.StatusNotImplemented
	case fault.Unavailable, fault.Degraded:
		return http.StatusServiceUnavailable
	case fault.NoSpace:
		return http.StatusInsufficientStorage
	default:
		return http.StatusInternalServerError
	}
}
