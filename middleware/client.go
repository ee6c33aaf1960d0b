package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth/verify"
)

// forwardedFor is the header in which trusted proxies name the addresses that they were
// called from, each at the end.
const forwardedFor = "X-Forwarded-For"

// Clients finds out who calls: the address that the connection comes from or, if that is a
// trusted proxy, the one that the proxy names. It comes first in the chain.
func Clients(trusted []netip.Prefix) gin.HandlerFunc {
	return func(c *gin.Context) {
		infoOf(c).client = clientAddress(c.Request, trusted)
		c.Next()
	}
}

// clientAddress returns the client's address without port. What a trusted proxy puts in
// the place of an address, such as "unknown", is none: the client is then unknown, and must
// not be taken for the proxy, which may be let in where strangers are not.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	peer, ok := parseHost(r.RemoteAddr)
	if !ok {
		return unknown
	}
	lines := r.Header[forwardedFor]
	if len(lines) == 0 || !isTrusted(peer, trusted) {
		return peer.String()
	}
	client, ok := lastUntrusted(lines, trusted)
	if !ok {
		return unknown + " via " + peer.String()
	}
	return client.String()
}

// unknown stands in logs and in the record for the address of somebody who has none, with
// the proxy that was called. No network contains it.
const unknown = "unknown"

// lastUntrusted returns the last address that is not a trusted proxy's, else the first of
// all. What stands in front of it was sent by nobody who is trusted. It reports false if an
// entry behind it, or itself, is no address.
func lastUntrusted(lines []string, trusted []netip.Prefix) (last netip.Addr, ok bool) {
	for _, line := range slices.Backward(lines) {
		for more := true; more; {
			entry := line
			if comma := strings.LastIndexByte(line, ','); comma >= 0 {
				line, entry = line[:comma], line[comma+1:]
			} else {
				more = false
			}
			if last, ok = parseHost(strings.Trim(entry, " \t")); !ok || !isTrusted(last, trusted) {
				return last, ok
			}
		}
	}
	return last, ok
}

// parseHost reads an address with or without a port: 192.0.2.1, 192.0.2.1:4711,
// 2001:db8::1, [2001:db8::1] or [2001:db8::1]:443. IPv4 in the clothes of IPv6 is IPv4, and
// what a zone says has a meaning for its sender only.
func parseHost(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		address, err = parseWithPort(text)
	}
	return address.Unmap().WithZone(""), err == nil
}

func parseWithPort(text string) (netip.Addr, error) {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text += ":0"
	}
	both, err := netip.ParseAddrPort(text)
	return both.Addr(), err
}

func isTrusted(address netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(proxies netip.Prefix) bool { return proxies.Contains(address) })
}

// clientOf returns the client's address: that of the connection where Clients did not run.
func clientOf(c *gin.Context) string {
	r := infoOf(c)
	if r.client == "" {
		r.client = clientAddress(c.Request, nil)
	}
	return r.client
}

// ClientNetwork returns what stands for the client's address where clients are counted; see verify.NetworkOf.
func ClientNetwork(c *gin.Context) string {
	address, err := netip.ParseAddr(clientOf(c))
	if err != nil {
		return clientOf(c)
	}
	return verify.NetworkOf(address).String()
}
