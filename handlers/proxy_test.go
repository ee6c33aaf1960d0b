package handlers_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
)

// witness notes from where callers come.
type witness struct {
	keys
	address *string
}

func (w witness) Verify(ctx context.Context, given auth.Credentials, client auth.Client) (auth.Principal, error) {
	*w.address = client.Address
	return w.keys.Verify(ctx, given, client)
}

// Addresses stand in the log and in versions, and bound how much one of them may ask. A
// client must not choose its own.
func TestClientAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	tests := []struct {
		name    string
		trusted []netip.Prefix
		from    string
		headers []string
		want    string
	}{
		{"no header", nil, "192.0.2.1:999", nil, "192.0.2.1"},
		{"forged", nil, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9", "X-Real-IP: 203.0.113.9",
			"Forwarded: for=203.0.113.9", "CF-Connecting-IP: 203.0.113.9", "X-Appengine-Remote-Addr: 203.0.113.9"}, "192.0.2.1"},
		{"forged by a neighbour", nil, "127.0.0.1:999", []string{"X-Forwarded-For: 203.0.113.9"}, "127.0.0.1"},
		{"forged over IPv6", nil, "[2001:db8::1]:999", []string{"X-Forwarded-For: 203.0.113.9"}, "2001:db8::1"},
		{"forged by another than the proxy", proxies, "198.51.100.1:999", []string{"X-Forwarded-For: 203.0.113.9", "X-Real-IP: 203.0.113.9"}, "198.51.100.1"},
		{"through the proxy", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9"}, "203.0.113.9"},
		{"through the proxy over IPv6", proxies, "[2001:db8::1]:999", []string{"X-Forwarded-For: 203.0.113.9"}, "203.0.113.9"},
		{"forged before the proxy", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 198.51.100.66, 203.0.113.9"}, "203.0.113.9"},
		{"forged in a line of its own", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 198.51.100.66", "X-Forwarded-For: 203.0.113.9"}, "203.0.113.9"},
		{"through two proxies", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 198.51.100.66, 203.0.113.9, 192.0.2.7"}, "203.0.113.9"},
		{"in a header that the proxy does not set", proxies, "192.0.2.1:999", []string{"X-Real-IP: 203.0.113.9"}, "192.0.2.1"},
		{"no address", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: unknown", "X-Real-IP: 203.0.113.9"}, "192.0.2.1"},
		{"the proxy itself", proxies, "192.0.2.1:999", nil, "192.0.2.1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			deps := testDeps(t)
			log := newJournal(t, &deps)
			var told string
			deps.Verifier, deps.TrustedProxies = witness{testKeys(), &told}, test.trusted
			router, err := handlers.NewRouter(deps)
			if err != nil {
				t.Fatal(err)
			}
			fromThere := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RemoteAddr = test.from
				router.ServeHTTP(w, r)
			})
			ask(t, fromThere, "GET /api/v1/state/x", "", append(test.headers, basic(acme.String(), acmeKey))...)
			if logged := log.named("request")[0]["client"]; told != test.want || logged != test.want {
				t.Errorf("the verifier was told %q, the log %q; want %s", told, logged, test.want)
			}
		})
	}
}
