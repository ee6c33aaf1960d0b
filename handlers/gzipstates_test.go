package handlers_test

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/middleware"
)

const inGzip = "Content-Encoding: gzip"

// A state in gzip is the state: what is stored, compared, counted and given back are the
// bytes that it expands to.
func TestGzipStates(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	plain := c.do("POST /api/v1/state/plain", body(1))
	for _, path := range []string{"/api/v1/state/x", "/terraform/state/e/p"} {
		for i, encoding := range []string{"gzip", "GZIP", "gzip"} {
			got := c.do("POST "+path, zipped(body(1)), "Content-Encoding: "+encoding)
			if got.status != http.StatusOK || got.header.Get("ETag") != plain.header.Get("ETag") ||
				got.header.Get("X-Holdfast-Version") != "1" {
				t.Fatalf("%s, %d: %d %s %v", path, i, got.status, got.body, got.header)
			}
		}
		c.converse([]step{{"GET " + path, "", 200, "=" + body(1)}, {"POST " + path, body(1), 200, `"version":1`}})
	}
	if got := c.do("POST /api/v1/state/x/candidates", zipped(body(7)), inGzip); got.status != http.StatusCreated {
		t.Errorf("a candidate: %d %s", got.status, got.body)
	}
	for _, request := range []string{"LOCK", "UNLOCK"} {
		if got := c.do(request+" /api/v1/state/x", zipped(infoA), inGzip); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", request, got.status, got.body)
		}
	}
}

func TestGzipStatesThatAreRefused(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	whole := zipped(body(1))
	padding := strings.Repeat(" ", maxStateBytes-len(body(1)))
	for name, test := range map[string]struct {
		body, encoding string
		status         int
		code           string
	}{
		"as large as allowed":     {zipped(body(1) + padding), "gzip", 200, ""},
		"one byte more":           {zipped(body(1) + padding + " "), "gzip", 413, "body_too_large"},
		"a bomb":                  {strings.Repeat(zipped(strings.Repeat(" ", 1<<20)), 100), "gzip", 413, "body_too_large"},
		"cut off":                 {whole[:len(whole)-1], "gzip", 400, "gzip_damaged"},
		"damaged":                 {flipped(whole, -8), "gzip", 400, "gzip_damaged"},
		"not in gzip":             {body(1), "gzip", 400, "gzip_damaged"},
		"in gzip twice":           {zipped(whole), "gzip", 400, "state_invalid"},
		"without a word about it": {whole, "identity", 400, "state_invalid"},
		"another encoding":        {whole, "br", 415, "media_unsupported"},
		"two encodings":           {whole, "gzip, gzip", 415, "media_unsupported"},
	} {
		for _, path := range []string{"/api/v1/state/", "/terraform/state/e/"} {
			got := c.do("PUT "+path+strings.ReplaceAll(name, " ", "-"), test.body, "Content-Encoding: "+test.encoding)
			if got.status != test.status || !strings.Contains(got.body, test.code) {
				t.Errorf("%s to %s: %d %s; want %d %s", name, path, got.status, got.body, test.status, test.code)
			}
		}
	}
	if got := c.do("LOCK /api/v1/state/x", infoA, "Content-Encoding: br"); got.status != http.StatusUnsupportedMediaType ||
		!strings.Contains(got.body, "in gzip") {
		t.Errorf("LOCK: %d %s", got.status, got.body)
	}
}

// The digest of a body in gzip is that of the bytes which are sent; the one of what they
// expand to is understood too.
func TestDigestOfGzip(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for path, content := range map[string]string{"/api/v1/state/x": body(1), "/upload": oneUpload("a")} {
		for of, status := range map[string]int{zipped(content): 200, content: 200, "something else": 400} {
			sum := md5.Sum([]byte(of))
			got := c.do("POST "+path, zipped(content), inGzip, "Content-MD5: "+base64.StdEncoding.EncodeToString(sum[:]))
			if got.status != status || status == 400 && !strings.Contains(got.body, "digest_mismatch") {
				t.Errorf("%s with the digest of %q: %d %s", path, of, got.status, got.body)
			}
		}
	}
}

// An UNLOCK in gzip passes the rate limit as any other does: its ID is read.
func TestGzipUnlockOfAHolder(t *testing.T) {
	deps := testDeps(t)
	deps.Limits = middleware.Limits{States: 1}
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	if got := c.do("LOCK /api/v1/state/x", zipped(infoA), inGzip); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	c.converse([]step{{"GET /api/v1/state/x", "", 429, ""}})
	if got := c.do("UNLOCK /api/v1/state/x", zipped(infoA), inGzip); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}
