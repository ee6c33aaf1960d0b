package sandbox

import (
	"net/netip"
	"os"
	"strings"
)

// closedPrefixes are addresses of the machine itself and of what tells machines their
// credentials.
func closedPrefixes() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8",          // which connects to loopback
		"127.0.0.0/8",        // loopback
		"169.254.0.0/16",     // link-local: the metadata of nearly all clouds
		"100.100.100.200/32", // Alibaba's
		"168.63.129.16/32",   // Azure's host
		"192.0.0.192/32",     // Oracle's, once
		"::/128",
		"::1/128",
		"fe80::/10",
		"fd00:ec2::254/128", // Amazon's
		"fd20:ce::254/128",  // Google's
		"fd00:42::42/128",   // Scaleway's
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

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
	for _, prefix := range closedPrefixes() {
		if prefix.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}
