package auth

import (
	"net/netip"
	"time"

	"github.com/holdfast/holdfast/fault"
)

// usable returns a fault of code KeyExpired or AddressRefused when the key, good as it is,
// may not be used now or from this address.
func (k *StoredKey) usable(now time.Time, address string) error {
	if !k.Expires.IsZero() && !now.Before(k.Expires) {
		return fault.New(fault.KeyExpired, "this key was good until %s", k.Expires.UTC().Format(time.RFC3339))
	}
	if len(k.From) > 0 && !within(k.From, address) {
		return fault.New(fault.AddressRefused, "this key may not be used from %q", address)
	}
	return nil
}

// within reports whether the address is in one of the networks. An address that is none,
// such as that of a Unix socket, is in no network.
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
