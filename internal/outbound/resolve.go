package outbound

import (
	"context"
	"net"
	"net/netip"
)

// Resolve returns the addresses of a host that may be connected to: those of the Internet, and those in
// the networks that are allowed besides. It is for who hands a connection to another program, which is
// then told these addresses and not the name, so that the name can't lead elsewhere the second time. The
// error is a *RefusedError where the host has addresses and none may be connected to.
func Resolve(ctx context.Context, host string, allowed []netip.Prefix) ([]netip.Addr, error) {
	found := []netip.Addr{}
	if ip, err := netip.ParseAddr(host); err == nil {
		found = append(found, ip)
	} else if found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	var good []netip.Addr
	var refused error
	for _, ip := range found {
		if ip = ip.Unmap().WithZone(""); isInside(ip) && !contains(allowed, ip) {
			refused = &RefusedError{Address: ip}
			continue
		}
		good = append(good, ip)
	}
	if len(good) == 0 {
		return nil, refused
	}
	return good, nil
}
