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
		{"forged by another than the proxy", proxies, "198.51.100.1:999",
			[]string{"X-Forwarded-For: 203.0.113.9", "X-Real-IP: 203.0.113.9"}, "198.51.100.1"},
		{"through the proxy", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9"}, "203.0.113.9"},
		{"through the proxy over IPv6", proxies, "[2001:db8::1]:999", []string{"X-Forwarded-For: 203.0.113.9"},
			"203.0.113.9"},
		{"forged before the proxy", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 198.51.100.66, 203.0.113.9"},
			"203.0.113.9"},
		{"forged in a line of its own", proxies, "192.0.2.1:999",
			[]string{"X-Forwarded-For: 198.51.100.66", "X-Forwarded-For: 203.0.113.9"}, "203.0.113.9"},
		{"through two proxies", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 198.51.100.66, 203.0.113.9, 192.0.2.7"},
			"203.0.113.9"},
		{"in a header that the proxy does not set", proxies, "192.0.2.1:999", []string{"X-Real-IP: 203.0.113.9"},
			"192.0.2.1"},
		{"with a port", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9:4711"}, "203.0.113.9"},
		{"with a port, through two proxies", proxies, "192.0.2.1:999",
			[]string{"X-Forwarded-For: 203.0.113.9:4711,192.0.2.7:80"}, "203.0.113.9"},
		{"IPv6", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 2001:db9::1"}, "2001:db9::1"},
		{"IPv6 in brackets", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: [2001:db9::1]"}, "2001:db9::1"},
		{"IPv6 with a port", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: [2001:db9::1]:443"}, "2001:db9::1"},
		{"IPv6 with a zone", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: fe80::1%eth0"}, "fe80::1"},
		{"IPv4 in the clothes of IPv6", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: ::ffff:203.0.113.9"},
			"203.0.113.9"},
		{"a proxy in the clothes of IPv6", proxies, "[::ffff:192.0.2.1]:999",
			[]string{"X-Forwarded-For: 203.0.113.9,::ffff:192.0.2.7"}, "203.0.113.9"},
		{"spaces", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 198.51.100.66 ,\t203.0.113.9 ,  192.0.2.7 "},
			"203.0.113.9"},
		{"all of them proxies", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 192.0.2.9, 192.0.2.7"}, "192.0.2.9"},
		{"no address", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: unknown", "X-Real-IP: 203.0.113.9"},
			"unknown via 192.0.2.1"},
		{"obfuscated", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9, _SEVKISEK"},
			"unknown via 192.0.2.1"},
		{"no address from a second proxy", proxies, "192.0.2.1:999",
			[]string{"X-Forwarded-For: 203.0.113.9, unknown, 192.0.2.7"}, "unknown via 192.0.2.1"},
		{"empty", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: "}, "unknown via 192.0.2.1"},
		{"ends in nothing", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9,"}, "unknown via 192.0.2.1"},
		{"a name", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: client.example.com"}, "unknown via 192.0.2.1"},
		{"a network", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.0/24"}, "unknown via 192.0.2.1"},
		{"a port out of range", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: 203.0.113.9:99999"},
			"unknown via 192.0.2.1"},
		{"half a bracket", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: [2001:db9::1"}, "unknown via 192.0.2.1"},
		{"no address in front of it", proxies, "192.0.2.1:999", []string{"X-Forwarded-For: unknown, 203.0.113.9"},
			"203.0.113.9"},
		{"a socket without addresses", proxies, "@", []string{"X-Forwarded-For: 203.0.113.9"}, "unknown"},
		{"the proxy itself", proxies, "192.0.2.1:999", nil, "192.0.2.1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			deps, _, _ := testDepsWithoutResources(t)
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
