package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// failed returns the answer of a chain whose first handler fails with err.
func failed(t *testing.T, err error) *httptest.ResponseRecorder {
	t.Helper()
	router := newRouter(middleware.RequestID(), func(c *gin.Context) { middleware.Fail(c, err) },
		func(c *gin.Context) { c.String(http.StatusOK, "the chain went on") })
	return serve(router, request("GET", "X-Request-ID: r-1"))
}

func newRouter(chain ...gin.HandlerFunc) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Any("/", chain...)
	return router
}

// request makes a request with headers given as "Name: value".
func request(method string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/", nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func serve(router http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	return w
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	for after, want := range map[time.Duration]string{
		0:                              "",
		time.Nanosecond:                "1",
		time.Second:                    "1",
		time.Second + time.Millisecond: "2",
		90 * time.Second:               "90",
	} {
		busy := fault.New(fault.Busy, "too many")
		busy.RetryAfter = after
		got := failed(t, fmt.Errorf("wrapped: %w", busy))
		if values := got.Header().Values("Retry-After"); got.Code != http.StatusServiceUnavailable ||
			strings.Join(values, ",") != want {
			t.Errorf("after %s: %d, Retry-After %q; want 503 and %q", after, got.Code, values, want)
		}
	}
}

func TestStatusOfEveryKind(t *testing.T) {
	want := map[fault.Kind]int{
		fault.Internal: 500, fault.Invalid: 400, fault.Unauthenticated: 401, fault.Forbidden: 403, fault.NotFound: 404,
		fault.MethodNotAllowed: 405, fault.Conflict: 409, fault.TooLarge: 413, fault.NotImplemented: 501,
		fault.Unavailable: 503, fault.NoSpace: 507, 255: 500,
	}
	for kind, status := range want {
		if got := middleware.StatusOf(kind); got != status {
			t.Errorf("kind %d: %d; want %d", kind, got, status)
		}
	}
}

// Every code of the catalogue answers with its own kind's status and in one format, and
// ends the chain.
func TestFailAnswersInOneFormat(t *testing.T) {
	for _, entry := range fault.Catalogue() {
		got := failed(t, fault.Wrap(errors.New("secret cause"), entry.Code, "a message"))
		want := api.Failure{Status: "error", Code: api.ErrorCode(entry.Code), Message: "a message", RequestID: "r-1"}
		wantFailure(t, got, middleware.StatusOf(entry.Kind), want)
		if challenge := got.Header().Get("WWW-Authenticate"); (challenge != "") != (got.Code == http.StatusUnauthorized) {
			t.Errorf("%s: %d with WWW-Authenticate %q", entry.Code, got.Code, challenge)
		}
	}
}

func TestFailTellsNothingOfUnknownErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   fault.Code
	}{
		{errors.New("secret cause"), 500, fault.InternalError},
		{fmt.Errorf("secret cause: %w", context.Canceled), 503, fault.Interrupted},
		{fmt.Errorf("secret cause: %w", context.DeadlineExceeded), 503, fault.Interrupted},
	} {
		got := failed(t, c.err)
		var failure api.Failure
		if err := json.Unmarshal(got.Body.Bytes(), &failure); err != nil {
			t.Fatal(err)
		}
		if got.Code != c.status || failure.Code != api.ErrorCode(c.code) ||
			strings.Contains(got.Body.String(), "secret cause") {
			t.Errorf("%v: %d %s; want %d %s without the cause", c.err, got.Code, got.Body, c.status, c.code)
		}
	}
}

// Clients decode the holder out of a 409, so that it is the holder's bytes and no more;
// other codes have it beside the message.
func TestFailShowsTheHolder(t *testing.T) {
	const raw = `{"ID":"a-1",  "Who":"<ada>"}`
	holder := state.LockInfo{ID: "a-1", Raw: []byte(raw)}
	for code, want := range map[fault.Code]struct {
		status int
		body   string
	}{
		fault.LockHeld:     {409, raw},
		fault.LockMismatch: {400, `"lock":{"ID":"a-1"`},
	} {
		got := failed(t, &state.HeldError{Holder: holder, Fault: fault.New(code, "held")})
		whole := got.Body.String() == want.body
		if got.Code != want.status || !strings.Contains(got.Body.String(), want.body) || whole != (code == fault.LockHeld) {
			t.Errorf("%s: %d %s; want %d with %s", code, got.Code, got.Body, want.status, want.body)
		}
	}
}

func wantFailure(t *testing.T, got *httptest.ResponseRecorder, status int, want api.Failure) {
	t.Helper()
	var have api.Failure
	if err := json.Unmarshal(got.Body.Bytes(), &have); err != nil {
		t.Errorf("%s: the body is no failure: %q", want.Code, got.Body)
		return
	}
	if have.Lock != nil || got.Code != status || have.Status != want.Status || have.Code != want.Code ||
		have.Message != want.Message || have.RequestID != want.RequestID {
		t.Errorf("%d %+v; want %d %+v", got.Code, have, status, want)
	}
	if kind := got.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Errorf("%s: Content-Type %q", want.Code, kind)
	}
}
