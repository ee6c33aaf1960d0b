package lfs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/repos/lfs"
)

const token = "tok-5e45a6c0ffee"

// place is a server of Git LFS that has one file, at an address that a test may change.
type place struct {
	*httptest.Server
	href string
	file string
	seen []string // what came, with what was shown
}

func newPlace(t *testing.T, file string) *place {
	t.Helper()
	p := &place{file: file}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.href = p.URL + "/files/1"
	return p
}

func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, given, _ := r.BasicAuth()
	p.seen = append(p.seen, r.Method+" "+r.URL.Path+" "+given+r.Header.Get("X-Given"))
	if r.URL.Path != "/acme/infra.git/info/lfs/objects/batch" {
		_, _ = io.WriteString(w, p.file)
		return
	}
	var asked struct{ Objects []struct{ OID string } }
	if json.NewDecoder(r.Body).Decode(&asked) != nil || given != token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	fmt.Fprintf(w, `{"transfer":"basic","objects":[{"oid":%q,"size":1,"actions":{"download":{"href":%q,"header":{"X-Given":"once"}}}}]}`,
		asked.Objects[0].OID, p.href)
}

func (p *place) client(t *testing.T, change func(*lfs.Config)) *lfs.Client {
	t.Helper()
	c := lfs.Config{URL: p.URL + "/acme/infra.git", User: "bot", Token: token, AllowHTTP: true, Timeout: time.Minute,
		Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	change(&c)
	client, err := lfs.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func as(*lfs.Config) {}

func fileOf(text string) lfs.File {
	sum := sha256.Sum256([]byte(text))
	return lfs.File{Digest: hex.EncodeToString(sum[:]), Size: int64(len(text))}
}

// A file is downloaded from where the server says, which is shown what the server gives for it and no token.
func TestDownload(t *testing.T) {
	p := newPlace(t, "large")
	var got strings.Builder
	if err := p.client(t, as).Download(t.Context(), fileOf("large"), &got); err != nil || got.String() != "large" {
		t.Errorf("%q, %v", got.String(), err)
	}
	if len(p.seen) != 2 || p.seen[1] != "GET /files/1 once" {
		t.Errorf("asked %v", p.seen)
	}
}

// What is another file, too large, or at an address that is not allowed is an error, which has no token.
func TestHostileServers(t *testing.T) {
	inside := newPlace(t, "large")
	for name, c := range map[string]struct {
		serve  func(p *place)
		change func(*lfs.Config)
	}{
		"another file":     {func(p *place) { p.file = "LARGE" }, as},
		"longer":           {func(p *place) { p.file = "large and more" }, as},
		"shorter":          {func(p *place) { p.file = "lar" }, as},
		"a file":           {func(p *place) { p.href = "file:///etc/passwd" }, as},
		"with a password":  {func(p *place) { p.href = "http://a:b@" + p.Listener.Addr().String() + "/x" }, as},
		"plain http":       {func(*place) {}, func(c *lfs.Config) { c.AllowHTTP = false }},
		"a private host":   {func(p *place) { p.href = strings.Replace(inside.URL, "127.0.0.1", "10.0.0.1", 1) }, as},
		"no token":         {func(*place) {}, func(c *lfs.Config) { c.Token = "" }},
		"a private server": {func(*place) {}, func(c *lfs.Config) { c.Allowed = nil }},
	} {
		p := newPlace(t, "large")
		c.serve(p)
		err := p.client(t, c.change).Download(t.Context(), fileOf("large"), io.Discard)
		if err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(inside.seen) > 0 {
		t.Errorf("a private host was asked %v", inside.seen)
	}
}

// A question, which has the token, is not sent on; a download is, with no token.
func TestMoves(t *testing.T) {
	p, other := newPlace(t, "large"), newPlace(t, "large")
	moved := httptest.NewServer(http.RedirectHandler(other.URL+"/moved", http.StatusTemporaryRedirect))
	defer moved.Close()
	p.href = moved.URL
	if err := p.client(t, as).Download(t.Context(), fileOf("large"), io.Discard); err != nil {
		t.Error(err)
	}
	elsewhere := p.client(t, func(c *lfs.Config) { c.URL = moved.URL })
	if err := elsewhere.Download(t.Context(), fileOf("large"), io.Discard); err == nil {
		t.Error("a question was sent on")
	}
	if len(other.seen) != 1 || strings.Contains(other.seen[0], token) {
		t.Errorf("the other server was asked %v", other.seen)
	}
}

// A download leaves no connection behind, or many of them would take all that the process may have.
func TestConnectionsEnd(t *testing.T) {
	p := newPlace(t, "large")
	opened, closed := make(chan bool, 10), make(chan bool, 10)
	front := httptest.NewUnstartedServer(p)
	front.Config.ConnState = func(_ net.Conn, now http.ConnState) {
		switch now {
		case http.StateNew:
			opened <- true
		case http.StateClosed:
			closed <- true
		}
	}
	front.Start()
	t.Cleanup(front.Close)
	p.href = front.URL + "/files/1"
	client := p.client(t, func(c *lfs.Config) { c.URL = front.URL + "/acme/infra.git" })
	for range 3 {
		if err := client.Download(t.Context(), fileOf("large"), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	client.Close()
	for n := len(opened); n > 0; n-- {
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatalf("%d connections stay open", n)
		}
	}
}
