package verify

import (
	"net/netip"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// usable returns a fault of code KeyExpired or AddressRefused when what is good for g may
// not be used now, or not from this address; without networks in from, any is right.
func usable(g auth.Grant, from []netip.Prefix, now time.Time, address string) error {
	if !g.Expires.IsZero() && !now.Before(g.Expires) {
		return fault.New(fault.KeyExpired, "these credentials were good until %s", g.Expires.UTC().Format(time.RFC3339))
	}
	if len(from) > 0 && !within(from, address) {
		return fault.New(fault.AddressRefused, "these credentials may not be used from %q", address)
	}
	return nil
}

// within reports whether the address is in one of the networks. An address that is none,
// such as that of a caller whom a proxy does not name, is in no network.
func within(networks []netip.Prefix, address string) bool {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}
