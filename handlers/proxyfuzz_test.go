package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzForwardedFor: whoever is no trusted proxy has the address that it calls from. Behind
// one, it is an address that the header names, or unknown, but never the proxy.
func FuzzForwardedFor(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "203.0.113.9", "203.0.113.9, 192.0.2.7", "x, 203.0.113.9", "203.0.113.9:80",
		"[2001:db8::1]", "::ffff:203.0.113.9", ",", "fe80::1%eth0", "192.0.2.1,192.0.2.2", "unknown", "_hidden",
		"[2001:db8::1]:443", "203.0.113.9:", " 203.0.113.9\t,", "[::ffff:192.0.2.1]:1,192.0.2.1"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	deps, address := testDeps(f), ""
	deps.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	deps.Verifier = witness{testKeys(), &address}
	router, err := handlers.NewRouter(deps)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string, trusted bool) {
		caller := "198.51.100.1"
		if trusted {
			caller = "192.0.2.1"
		}
		address = "" // of the run before
		r := httptest.NewRequest("GET", "/api/v1/state/x", nil)
		r.RemoteAddr = caller + ":999"
		r.SetBasicAuth(acme.String(), acmeKey)
		r.Header["X-Forwarded-For"] = []string{header}
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, r)
		if answer.Code != http.StatusNotFound {
			t.Fatalf("%q: %d %s", header, answer.Code, answer.Body)
		}
		if !trusted && address != caller {
			t.Fatalf("%q: a stranger is taken for %q", header, address)
		}
		named, err := netip.ParseAddr(address)
		if trusted && err == nil && !namedIn(header, named) || err != nil && address != "unknown via "+caller {
			t.Fatalf("%q: somebody behind the proxy is taken for %q", header, address)
		}
	})
}

// namedIn looks at every stretch of the header that could be an address, whatever is around
// it.
func namedIn(header string, address netip.Addr) bool {
	return slices.ContainsFunc(strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune(", \t[]", r) }),
		func(text string) bool {
			text, _, _ = strings.Cut(text, "%")
			host, _, _ := strings.Cut(text, ":")
			for _, one := range []string{text, host} {
				if found, err := netip.ParseAddr(one); err == nil && found.Unmap() == address {
					return true
				}
			}
			return false
		})
}
