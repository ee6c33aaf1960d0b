package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
)

var acme = uuid.MustParse("11111111-2222-3333-4444-555555555555")

// answering is a client of a server that answers request n, counted from 1, as told.
func answering(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) (*Client, *[]time.Duration) {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answer(n, w, r)
	}))
	t.Cleanup(server.Close)
	waited := &[]time.Duration{}
	return New(Options{Address: server.URL, Org: acme, Key: "key",
		Pause: func(ctx context.Context, d time.Duration) error {
			*waited = append(*waited, d)
			return ctx.Err()
		}}), waited
}

func TestClientComesBackWhenItIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		after  string
		busy   int // answers before the good one
		waits  int
		fails  bool
	}{
		"once":                  {429, "7", 1, 1, false},
		"four times":            {503, "7", 4, 4, false},
		"too often":             {503, "7", 5, 4, true},
		"for too long":          {429, "3600", 1, 0, true},
		"it does not say when":  {503, "", 1, 0, true},
		"it is another failure": {500, "7", 1, 0, true},
		"in the past":           {503, "-5", 1, 0, true},
		"beyond all times":      {503, "9223372037", 1, 0, true},
		"around the clock":      {503, "18446744074", 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, waited := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
				var sent api.Order
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent.Reason != "why" {
					t.Errorf("request %d: body %+v, %v", n, sent, err)
				}
				if n <= test.busy {
					w.Header().Set("Retry-After", test.after)
					w.WriteHeader(test.status)
				}
				fmt.Fprint(w, `{}`)
			})
			err := c.Discard(t.Context(), "app", "id", "why")
			if test.fails != (err != nil) || len(*waited) != test.waits {
				t.Errorf("%v, waited %v", err, *waited)
			}
			for _, d := range *waited {
				if d != 7*time.Second {
					t.Errorf("waited %s", d)
				}
			}
		})
	}
}

func TestClientStopsWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := answering(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c.options.Pause = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}
	if _, err := c.Whoami(ctx); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// A body is sent again from where it began, if it can be read twice.
func TestBodiesAreSentAgain(t *testing.T) {
	seeker := strings.NewReader("skipped{}")
	_, _ = seeker.Seek(7, io.SeekStart)
	for name, test := range map[string]struct {
		body io.Reader
		want []string
	}{
		"seeker": {seeker, []string{"{}", "{}"}},
		"stream": {io.MultiReader(strings.NewReader("{}")), []string{"{}"}},
		"empty":  {strings.NewReader(""), []string{"", ""}},
	} {
		var got []string
		c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = append(got, string(body))
			if n == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fmt.Fprint(w, `{"version":1}`)
		})
		stored, err := c.Put(t.Context(), "app", test.body, Write{})
		if !slices.Equal(got, test.want) || (err == nil) != (stored.Version == 1) || (err == nil) != (len(test.want) == 2) {
			t.Errorf("%s: sent %q; %v, %v", name, got, stored, err)
		}
	}
}

// Pages are followed, also empty ones, whatever the cursor is.
func TestClientFollowsPages(t *testing.T) {
	for _, cursor := range []string{"a/b%d", "1844674407370955%d0"} {
		numbers := !strings.HasPrefix(cursor, "a")
		c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
			next, given, name := fmt.Sprintf(cursor, n), "", "cursor"
			if n > 1 {
				given = fmt.Sprintf(cursor, n-1)
			}
			if numbers {
				name = "before"
			} else {
				next = `"` + next + `"`
			}
			if at := r.URL.Query().Get(name); at != given {
				t.Errorf("request %d asks behind %q", n, at)
			}
			answers := []string{`{"%s":[],"next":%s}`, `{"%s":[{"version":1},{"version":2}],"next":%s}`, `{"%s":[],"next":%s}`,
				`{"%s":[{"version":3}],"next":null}%.0s`}
			member := map[bool]string{false: "candidates", true: "versions"}[numbers]
			fmt.Fprintf(w, answers[n-1], member, next)
		})
		var got []uint64
		var err error
		var more bool
		if numbers {
			versions := c.Versions("app", 0)
			for v, failed := range versions.All(t.Context()) {
				got, err = append(got, v.Number), failed
			}
			more = versions.More()
		} else {
			for v, failed := range c.Candidates("app").All(t.Context()) {
				got, err = append(got, v.Number), failed
			}
		}
		if err != nil || more || !slices.Equal(got, []uint64{1, 2, 3}) {
			t.Errorf("%v, more %v, %v", got, more, err)
		}
	}
}

// A page may be short or empty and still be followed by others, up to the limit.
func TestListGoesOnOverEmptyPages(t *testing.T) {
	c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		answers := []string{`{"states":[{"name":"1"}],"next":"a"}`, `{"states":[],"next":"b"}`, `{"states":[],"next":"c"}`,
			`{"states":[{"name":"2"},{"name":"3"}],"next":null}`}
		if cursor := r.URL.Query().Get("cursor"); n > len(answers) || cursor != []string{"", "a", "b", "c"}[n-1] {
			t.Errorf("call %d has the cursor %q", n, cursor)
		}
		_, _ = fmt.Fprint(w, answers[min(n, len(answers))-1])
	})
	var got string
	list := c.States(StatesQuery{Limit: 3})
	for one, err := range list.All(t.Context()) {
		if got += one.Name; err != nil {
			t.Error(err)
		}
	}
	if got != "123" || list.More() {
		t.Errorf("%q, more %v", got, list.More())
	}
}

// A server whose list never goes on is left, not asked for ever.
func TestListEndsWhereTheServerStandsStill(t *testing.T) {
	c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 5 {
			t.Error("asked again and again")
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = fmt.Fprint(w, `{"states":[],"data":[],"count":0,"next":"here"}`)
	})
	var last error
	for _, last = range c.Locks().All(t.Context()) {
	}
	if !errors.Is(last, ErrNoFurther) {
		t.Errorf("%v, want %v", last, ErrNoFurther)
	}
}

func TestRecordsEndWhereTheServerStandsStill(t *testing.T) {
	c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 5 {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = fmt.Fprint(w, `{"data":[],"count":0,"next":"here"}`)
	})
	var last error
	for _, last = range c.Records(RecordsQuery{}).All(t.Context()) {
	}
	if !errors.Is(last, ErrNoFurther) {
		t.Errorf("%v, want %v", last, ErrNoFurther)
	}
}

func TestClientTrustsNoAnswer(t *testing.T) {
	for _, answer := range []string{`[]`, `{"states":`, `{"states":{}}`, ``, `{}`} {
		c, _ := answering(t, func(_ int, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		var last error
		for _, last = range c.Locks().All(t.Context()) {
		}
		if last == nil {
			t.Errorf("%q passes for a list", answer)
		}
	}
}

// A redirect could lead the key elsewhere, whatever the caller's HTTP client does.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	t.Cleanup(elsewhere.Close)
	redirecting := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	_, err := New(Options{Address: redirecting.URL, Org: acme, Key: "key", HTTP: redirecting.Client()}).Whoami(t.Context())
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusTemporaryRedirect {
		t.Errorf("%v", err)
	}
}

func TestErrorsAreValues(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   Error
		text   string
	}{
		"failure": {400, `{"status":"error","code":"upload_invalid","message":"it breaks\u001b[2J rules","request_id":"r1","details":[{"pointer":"/a","rule":"is there"}]}`,
			Error{Code: "upload_invalid", Message: "it breaks\x1b[2J rules", RequestID: "r1",
				Details: []api.Detail{{Pointer: "/a", Rule: "is there"}}},
			`the server answers 400 upload_invalid: it breaks\x1b[2J rules (request r1)`},
		"holder": {409, `{"ID":"1","Who":"ann@desk","Operation":"plan"}`,
			Error{Code: "lock_held", RequestID: "r0", Lock: &api.LockInfo{ID: "1", Who: "ann@desk", Operation: "plan"}},
			"the server answers 409: ann@desk holds the lock 1 for plan (request r0)"},
		"mismatch": {400, `{"code":"lock_mismatch","message":"another ID","request_id":"r1","lock":{"ID":"1"}}`,
			Error{Code: "lock_mismatch", Message: "another ID", RequestID: "r1", Lock: &api.LockInfo{ID: "1"}},
			"the server answers 400 lock_mismatch: another ID (request r1)"},
		"foreign": {502, `<html>`, Error{}, "the server answers 502 Bad Gateway"},
	} {
		c, _ := answering(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-ID", "r0")
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		})
		_, err := c.Whoami(t.Context())
		test.want.Status, test.want.RetryAfter = test.status, 3*time.Second
		got, ok := errors.AsType[*Error](err)
		if !ok || fmt.Sprintf("%+v", *got.withoutLock()) != fmt.Sprintf("%+v", *test.want.withoutLock()) ||
			got.Error() != test.text {
			t.Errorf("%s: %+v %v", name, got, err)
			continue
		}
		if (got.Lock == nil) != (test.want.Lock == nil) || got.Lock != nil && *got.Lock != *test.want.Lock {
			t.Errorf("%s: held by %v", name, got.Lock)
		}
		if test.want.Code != "" && (!IsCode(err, "other", string(test.want.Code)) || IsCode(err, "other")) {
			t.Errorf("%s: IsCode does not know %s", name, test.want.Code)
		}
	}
}

func (e Error) withoutLock() *Error {
	e.Lock = nil
	return &e
}

// Bytes that are damaged, or that break off, are no state.
func TestContentIsChecked(t *testing.T) {
	const other = "7b8a0000000000000000000000000000000000000000000000000000000012ab"
	for want, answer := range map[error]func(http.ResponseWriter){
		ErrDamaged: func(w http.ResponseWriter) {
			w.Header().Set("ETag", `"`+other+`"`)
			fmt.Fprint(w, "whale")
		},
		ErrCutOff: func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "5")
			fmt.Fprint(w, "who")
		},
	} {
		c, _ := answering(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w) })
		content, err := c.Get(t.Context(), "app", Which{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(content); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		content.Close()
	}
}

// A tag that a proxy has weakened is the same one, and one that is none of ours says nothing.
func TestDigestOfTags(t *testing.T) {
	const digest = "7b8a0000000000000000000000000000000000000000000000000000000012ab"
	for tag, want := range map[string]string{
		`"` + digest + `"`: digest, `W/"` + digest + `"`: digest, `"` + digest + `-gzip"`: digest, `W/"` + digest +
			`-gzip"`: digest,
		`"0123"`: "", `"` + digest + `0"`: "", "": "", `"` + digest[1:] + `z"`: "",
	} {
		if got := digestOf(tag); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// A lock that was granted is released also when a proxy answers instead, and when what runs under
// it panics.
func TestWithLockLeavesNoLock(t *testing.T) {
	held := false
	c, _ := answering(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if held = r.Method == "LOCK"; held && r.URL.Path == "/api/v1/state/slow" {
			w.WriteHeader(http.StatusGatewayTimeout)
			fmt.Fprint(w, "<html>")
			return
		}
		fmt.Fprint(w, `{"status":"success"}`)
	})
	if err := c.WithLock(t.Context(), "slow", api.LockInfo{ID: "a"}, func() error { return nil }); err == nil || held {
		t.Errorf("behind a proxy that gives up: %v, held %v", err, held)
	}
	func() {
		defer func() { _ = recover() }()
		_ = c.WithLock(t.Context(), "app", api.LockInfo{ID: "b"}, func() error { panic("in the middle") })
	}()
	if held {
		t.Error("after a panic the lock is held")
	}
}

// What is no name of a state is not sent: a proxy could make another address of it.
func TestNamesAreNotPaths(t *testing.T) {
	c, _ := answering(t, func(_ int, _ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.RequestURI) })
	for _, name := range []string{"", ".", "..", "a/../b", "/a", "a/", "a//b"} {
		if _, err := c.Get(t.Context(), name, Which{}); err == nil {
			t.Errorf("%q is asked for", name)
		}
		if _, err := c.FindState(t.Context(), name); err == nil {
			t.Errorf("%q is looked for", name)
		}
	}
}

// A name keeps its slashes, unless the address would be another one's.
func TestClientSpellsNames(t *testing.T) {
	for name, want := range map[string]string{
		"prod/net~1":   "/api/v1/state/prod/net~1/-/versions/3/rollback",
		"prod/a+b":     "/api/v1/state/prod/a%2Bb/-/versions/3/rollback",
		"prod/lock":    "/api/v1/state/prod%2Flock/-/versions/3/rollback",
		"a/-/versions": "/api/v1/state/a%2F-%2Fversions/-/versions/3/rollback",
	} {
		c, _ := answering(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.RequestURI != want {
				t.Errorf("asked for %s, want %s", r.RequestURI, want)
			}
			fmt.Fprint(w, `{}`)
		})
		if _, err := c.Rollback(t.Context(), name, 3, api.Order{}); err != nil {
			t.Error(err)
		}
	}
}
