package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
)

// answering is a client of a server that answers request n, counted from 1, as told.
func answering(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) (*client, *[]time.Duration) {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		answer(n, w, r)
	}))
	t.Cleanup(server.Close)
	c, waited := newClient(server.URL, acme, auth.NewKey(acme)), &[]time.Duration{}
	c.pause = func(ctx context.Context, d time.Duration) error {
		*waited = append(*waited, d)
		return ctx.Err()
	}
	return c, waited
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
	} {
		t.Run(name, func(t *testing.T) {
			c, waited := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
				var sent order
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent.Reason != "why" {
					t.Errorf("request %d: body %+v, %v", n, sent, err)
				}
				if n <= test.busy {
					w.Header().Set("Retry-After", test.after)
					w.WriteHeader(test.status)
				}
				fmt.Fprint(w, `{}`)
			})
			_, err := c.object(t.Context(), ask{method: http.MethodPost, path: "x", body: order{Reason: "why"}.body()}, nil)
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
	c.pause = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}
	if _, err := c.object(ctx, ask{path: "x"}, nil); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

// Pages are followed, also empty ones, whatever the cursor is.
func TestClientFollowsPages(t *testing.T) {
	for form, l := range map[string]list{
		`"a/b%d"`:             {path: "x", member: "things", cursor: "cursor"},
		`1844674407370955%d0`: {path: "x", member: "things", cursor: "before"},
	} {
		c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
			given := ""
			if n > 1 {
				given = strings.Trim(fmt.Sprintf(form, n-1), `"`)
			}
			if at := r.URL.Query().Get(l.cursor); at != given {
				t.Errorf("request %d asks behind %q", n, at)
			}
			switch next := fmt.Sprintf(form, n); n {
			case 1, 3:
				fmt.Fprintf(w, `{"things":[],"next":%s}`, next)
			case 2:
				fmt.Fprintf(w, `{"things":[1,2],"next":%s}`, next)
			default:
				fmt.Fprint(w, `{"things":[3],"next":null}`)
			}
		})
		var got []string
		more, err := c.each(t.Context(), l, func(raw json.RawMessage) error {
			got = append(got, string(raw))
			return nil
		})
		if err != nil || more || strings.Join(got, " ") != "1 2 3" {
			t.Errorf("%v, more %v, %v", got, more, err)
		}
	}
}

func TestClientTrustsNoAnswer(t *testing.T) {
	for _, answer := range []string{`[]`, `{"things":`, `{"things":{}}`, ``, `{}`} {
		c, _ := answering(t, func(_ int, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		if _, err := c.each(t.Context(), list{path: "x", member: "things"}, nil); err == nil {
			t.Errorf("%q passes for a list", answer)
		}
	}
}

// A name is one segment of the path, whatever is in it.
func TestClientSpellsNames(t *testing.T) {
	c, _ := answering(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "/api/v1/state/prod%2Fnet~1/versions/3" {
			t.Errorf("asked for %s", r.RequestURI)
		}
		fmt.Fprint(w, `{}`)
	})
	path, err := ofState("prod/net~1", "versions", "3")
	if err == nil {
		_, err = c.object(t.Context(), ask{path: path}, nil)
	}
	if err != nil {
		t.Error(err)
	}
}

// What does not arrive whole leaves no file.
func TestPullLeavesNoHalves(t *testing.T) {
	digest := sha256.Sum256([]byte("whole"))
	for want, answer := range map[string]http.HandlerFunc{
		"they don't match its digest": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"`+hex.EncodeToString(digest[:])+`"`)
			fmt.Fprint(w, "whale")
		},
		"the answer broke off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			fmt.Fprint(w, "who")
		},
	} {
		s := &shell{t: t}
		s.asking(answer, auth.NewKey(acme))
		dir := t.TempDir()
		s.refuse(exitFailed, want, "state", "pull", "app", "-o", filepath.Join(dir, "app.tfstate"))
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
}

// In a table on a terminal no name can move the cursor, and the last column fits.
func TestTablesOnTerminals(t *testing.T) {
	s := newShell(t)
	s.columns = 40
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"states":[{"name":"a","lock":{"id":"1","who":"x\u001b[2Jy","operation":"`+strings.Repeat("o", 60)+`"}}],"next":null}`)
	}), auth.NewKey(acme))
	out := s.must("state", "list")
	if strings.Contains(out, "\x1b[2J") || !strings.HasPrefix(out, "\x1b[1mNAME") || !strings.Contains(out, `x\x1b[2Jy`) {
		t.Errorf("printed %q", out)
	}
	s.environ = append(s.environ, "NO_COLOR=1")
	if out := s.must("state", "list"); strings.Contains(out, "\x1b") {
		t.Errorf("printed %q", out)
	}
}
