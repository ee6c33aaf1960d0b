package verify

import (
	"net/netip"

	"github.com/google/uuid"
)

// place is where somebody waits: in the queue of an organization and in that of a client.
type place struct {
	org    uuid.UUID
	client string // an address, or the network of one of IPv6
}

// account returns whose failures count for p: those of its address. Somebody whose address
// nobody knows may be anybody, so strangers must not use up what all of these have: there
// it is the failures against p's organization.
func (p place) account() string {
	if p.hasAddress() {
		return p.client
	}
	return p.client + " " + p.org.String()
}

func (p place) hasAddress() bool {
	_, err := netip.ParseAddr(p.client)
	return err == nil
}

func placeOf(org uuid.UUID, address string) place {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return place{org, address}
	}
	return place{org, NetworkOf(ip).String()}
}

// NetworkOf returns what stands for a client's address where clients are counted: of IPv4
// the address itself, of IPv6 the first of its /48.
//
// Subscribers of IPv6 commonly have a whole /56 or /48 to come from. Where the /48 is their
// provider's, neighbours share a queue; that matters only while one of them is flooding, and
// then the rota over organizations still serves the others.
func NetworkOf(address netip.Addr) netip.Addr {
	if address = address.Unmap().WithZone(""); address.Is6() {
		if net, err := address.Prefix(48); err == nil {
			return net.Addr()
		}
	}
	return address
}
