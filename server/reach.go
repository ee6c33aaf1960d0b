package server

import (
	"net"
	"net/netip"
	"os"

	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/configs"
)

// reach is how the tools that the server starts itself find it.
type reach struct {
	address     string
	certificate string // in PEM, that they trust beside those of the system; empty for none
	network     sandbox.Network
}

// reachOf says how a server is reached from its own machine that listens there.
func reachOf(settings configs.Settings, listening net.Addr) (reach, error) {
	at, err := ownAddress(listening)
	if err != nil {
		return reach{}, err
	}
	r := reach{address: urlOf(at, settings.Server.EnableTLS), network: sandbox.Network{Allow: []netip.AddrPort{at}}}
	if named := settings.Runs.Address; named != "" {
		r.address = named
	}
	if settings.Server.EnableTLS {
		pem, err := os.ReadFile(settings.Server.TLSCertFile)
		if err != nil {
			return reach{}, err
		}
		r.certificate = string(pem)
	}
	return r, nil
}

// ownAddress is where the machine itself finds what listens there.
func ownAddress(listening net.Addr) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(listening.String())
	if err == nil && at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(loopbackLike(at.Addr()), at.Port())
	}
	return at, err
}

func urlOf(at netip.AddrPort, withTLS bool) string {
	if withTLS {
		return "https://" + at.String()
	}
	return "http://" + at.String()
}

func loopbackLike(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}
