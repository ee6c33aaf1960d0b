package sandbox

import (
	"net/netip"
	"os"
	"strings"

	"github.com/holdfast/holdfast/internal/outbound"
)

// resolvers are the name servers that the system asks. Those in closed ranges, as
// systemd-resolved and the clouds have them, stay reachable at their port.
func resolvers() []netip.AddrPort {
	text, _ := os.ReadFile("/etc/resolv.conf")
	var all []netip.AddrPort
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if address, err := netip.ParseAddr(fields[1]); err == nil {
			all = append(all, netip.AddrPortFrom(address.WithZone("").Unmap(), 53))
		}
	}
	return all
}

// isClosed says whether the address is one of the machine's own or of its credentials.
func isClosed(address netip.Addr) bool {
	for _, prefix := range outbound.Machine() {
		if prefix.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}
