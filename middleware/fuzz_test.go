package middleware_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/middleware"
)

// FuzzCredentials: whatever stands in the headers, a request acts for an organization only
// when that is spelled out in its one form, or carried by the key; the key that is checked
// is one that was sent; and a refusal tells nothing of either.
func FuzzCredentials(f *testing.F) {
	fuzzseeds.Add(f)
	key := auth.NewKey(acme)
	f.Add("", "", "Bearer "+key)
	f.Add(acme.String(), key, "")
	f.Add("{"+acme.String()+"}", madeByHand, "Basic !")
	f.Add("", "", strings.TrimPrefix(basic(acme.String(), key), "Authorization: "))
	f.Add("", "", strings.TrimPrefix(basic("anybody", key), "Authorization: "))
	f.Fuzz(func(t *testing.T, org, apiKey, authorization string) {
		r := request("GET")
		r.Header = http.Header{"X-Org-Id": {org}, "X-Api-Key": {apiKey}, "Authorization": {authorization}}
		user, password, isBasic := r.BasicAuth()
		for name, read := range map[string]middleware.Credentials{"native": middleware.NativeCredentials,
			"partition": middleware.KeyCredentials} {
			got, err := read(r)
			if err != nil {
				if !fault.Is(err, fault.CredentialsNeeded) || got != (auth.Credentials{}) || apiKey != "" || isBasic {
					t.Fatalf("%s: %+v, %v", name, got, err)
				}
				continue
			}
			named, sent := org, apiKey
			switch {
			case apiKey == "" && isBasic:
				named, sent = user, password
			case apiKey == "":
				named, sent = "", strings.TrimSpace(authorization[min(len(authorization), len("Bearer ")):])
			}
			if got.Key != sent {
				t.Fatalf("%s: the key %q, though %q was sent", name, got.Key, sent)
			}
			carried, _ := auth.OrgOfKey(got.Key)
			if got.Org != uuid.Nil && !strings.EqualFold(got.Org.String(), named) && got.Org != carried {
				t.Fatalf("%s: %s out of %q, %q, %q", name, got.Org, org, apiKey, authorization)
			}
		}
	})
}

var harmless = regexp.MustCompile(`\A[A-Za-z0-9._-]{1,128}\z`)

// FuzzRequestID: a harmless ID comes back as it is, and for any other a new one.
func FuzzRequestID(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "r-1", "a b", "a\r\nSet-Cookie: x", "é", strings.Repeat("x", 129), "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		got := requestID(t, sent)
		if harmless.MatchString(sent) {
			if got != sent {
				t.Fatalf("%q became %q", sent, got)
			}
			return
		}
		if id, err := uuid.Parse(got); err != nil || id.String() != got {
			t.Fatalf("%q became %q", sent, got)
		}
	})
}

// jsonMedia and itsParameters are the Content-Types that are JSON, in words of RFC 9110, with the
// braces that RFC 2045 allows in a token as well.
var (
	jsonMedia   = regexp.MustCompile(`(?i)\A[\t\n\v\f\r ]*application/([!#$%&'*+.^_\x60|~{}0-9A-Za-z-]*\+)?json[\pZ\t\n\v\f\r\x{85}]*(;|\z)`)
	withCharset = regexp.MustCompile(`(?i)charset`)
)

// FuzzMedia: nothing but JSON in UTF-8, as it is or in gzip, gets to a body.
func FuzzMedia(f *testing.F) {
	fuzzseeds.Add(f)
	for _, media := range []string{"application/json", "Application/vnd.x+JSON; charset=UTF-8", "text/json",
		"application/json; charset*=latin1''x", "json", ";"} {
		f.Add(media, "")
		f.Add(media, "GZIP")
		f.Add(media, "br")
	}
	f.Fuzz(func(t *testing.T, media, encoding string) {
		read, passed := false, false
		router := newRouter(middleware.RequestID(),
			middleware.JSONOnly(bodyLimit, func(*gin.Context, int64) ([]byte, error) { read = true; return nil, nil }),
			func(*gin.Context) { passed = true })
		r := request("POST")
		r.Header = http.Header{"Content-Type": {media}, "Content-Encoding": {encoding}}
		got := serve(router, r)
		if passed != read || passed != (got.Code == 200) || !passed && got.Code != 415 {
			t.Fatalf("%q, %q: passed %v, read %v, %d", media, encoding, passed, read, got.Code)
		}
		known := encoding == "" || strings.EqualFold(encoding, "gzip") || strings.EqualFold(encoding, "identity")
		if passed && !(known && jsonMedia.MatchString(media)) {
			t.Fatalf("%q, %q passed", media, encoding)
		}
		if media == strings.TrimSpace(media) && !passed && known && jsonMedia.MatchString(media) &&
			!strings.Contains(media, ";") {
			t.Fatalf("%q, %q was refused", media, encoding)
		}
		if passed && withCharset.MatchString(media) && !strings.Contains(strings.ToLower(media), "utf-8") &&
			!strings.ContainsAny(media, `"*\`) && strings.Contains(strings.ToLower(media), ";charset=") {
			t.Fatalf("%q passed, with another charset", media)
		}
	})
}
