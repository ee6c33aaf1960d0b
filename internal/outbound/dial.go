// Package outbound keeps the server from being sent to addresses that only it can reach: where a URL
// comes from somebody else, its name may lead to the server's own machine, to a cloud's metadata or
// into a private network.
//
// An address is looked at when it is connected to, after its name was resolved, so that a name which
// leads elsewhere the second time is no way around it.
package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// RefusedError says that an address was not connected to. Nothing was sent.
type RefusedError struct{ Address netip.Addr }

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("its host is %s, an address of this machine or of a private network, which is not allowed", e.Address)
}

// Transport returns a client's transport that connects to addresses of the Internet, and to those in
// the networks that are allowed besides. Others end in a *RefusedError. A proxy that the environment
// names is connected to like any other host, so its address needs to be allowed if it is a private one. It trusts
// roots, or the system's authorities where that is nil.
func Transport(allowed []netip.Prefix, roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: control(allowed)}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        100,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
}

// control looks at an address between its resolution and the connection, as net.Dialer's Control is called.
func control(allowed []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if ip := to.Addr().Unmap().WithZone(""); isInside(ip) && !contains(allowed, ip) {
			return &RefusedError{Address: ip}
		}
		return nil
	}
}

// isInside says whether an address is one that the Internet does not lead to.
func isInside(ip netip.Addr) bool {
	return contains(Machine(), ip) || contains(private(), ip)
}

func contains(all []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(ip) })
}
