package middleware_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/middleware"
)

// bodyLimit is small, so that the fuzzer finds what goes beyond.
const bodyLimit = 4 << 10

// readLimited stands for what handlers read bodies with.
func readLimited(c *gin.Context, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, fault.New(fault.BodyTooLarge, "too large")
	}
	return body, err
}

// FuzzGunzip: a gzip body is what Go's own library reads of it, within the limit; what that
// refuses is refused, with nobody else's fault, and so are reserved flags.
func FuzzGunzip(f *testing.F) {
	fuzzseeds.Add(f)
	for _, text := range []string{"", "{}", strings.Repeat("bomb", 2000)} {
		f.Add([]byte(zip(f, text)))
		f.Add([]byte(zip(f, text) + zip(f, text)))
		f.Add([]byte(zip(f, text) + "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xffname"))
		f.Add([]byte(zip(f, text) + "\x00"))
	}
	for _, flags := range []string{"\x20", "\x40", "\x80"} {
		packed := zip(f, "{}")
		f.Add([]byte(packed + packed[:3] + flags + packed[4:]))
	}
	f.Add([]byte(strings.Repeat(zip(f, ""), bodyLimit/len(zip(f, ""))+1)))
	f.Fuzz(func(t *testing.T, sent []byte) {
		var body []byte
		passed := false
		router := newRouter(middleware.RequestID(), middleware.JSONOnly(bodyLimit, readLimited),
			func(c *gin.Context) { body, passed = middleware.JSONBody(c), true })
		r := request("POST", "Content-Encoding: gzip")
		r.Body = io.NopCloser(bytes.NewReader(sent))
		got := serve(router, r)
		want, err := gunzip(sent)
		switch {
		case len(want) > bodyLimit || len(sent) > bodyLimit:
			if passed || got.Code != 413 && got.Code != 400 {
				t.Fatalf("%d bytes of %d: %d", len(want), len(sent), got.Code)
			}
		case err != nil:
			if passed || got.Code != 400 || !strings.Contains(got.Body.String(), string(fault.GzipDamaged)) {
				t.Fatalf("%v, but it is %d %s", err, got.Code, got.Body)
			}
		case !passed || !bytes.Equal(body, want):
			t.Fatalf("%d %s, passed %v: %q; want %q", got.Code, got.Body, passed, body, want)
		}
	})
}

func zip(f *testing.F, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return b.String()
}

// gunzip stops a little beyond the limit.
func gunzip(sent []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, bodyLimit+1))
	if err == nil && len(content) <= bodyLimit && setsReserved(sent) {
		return nil, errors.New("a member's header sets reserved flags")
	}
	return content, err
}

// setsReserved reports whether a member of a good gzip body sets flags that RFC 1952 has
// readers refuse (2.3.1.2). Go's own library passes over them.
func setsReserved(sent []byte) bool {
	const flags, reserved = 3, 0xe0 // an offset in the header, and the bits
	rest, r := bytes.NewReader(sent), new(gzip.Reader)
	for rest.Len() > flags {
		if sent[len(sent)-rest.Len()+flags]&reserved != 0 {
			return true
		}
		if r.Reset(rest) != nil {
			return false
		}
		r.Multistream(false)
		if _, err := io.Copy(io.Discard, r); err != nil {
			return false
		}
	}
	return false
}
