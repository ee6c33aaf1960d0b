package outbound

import "net/netip"

// Machine returns the ranges of addresses of the machine itself and of what tells machines their
// credentials: loopback, link-local, and the metadata services of clouds.
func Machine() []netip.Prefix {
	return prefixes(
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
	)
}

// private returns the ranges that nobody can reach from the Internet, and those that carry another
// address inside, behind which anything may be. They are those of IANA's registries of special-purpose
// addresses.
func private() []netip.Prefix {
	return prefixes(
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // RFC 1918
		"100.64.0.0/10", // RFC 6598: carriers'
		"192.0.0.0/24",  // RFC 6890
		"198.18.0.0/15", // RFC 2544: benchmarks'
		"224.0.0.0/4",   // multicast
		"240.0.0.0/4",   // reserved, and broadcast
		"fc00::/7",      // RFC 4193
		"fec0::/10",     // RFC 3879: once what fc00::/7 is
		"ff00::/8",      // multicast
		"64:ff9b::/96",  // RFC 6052: an IPv4 address inside
		"64:ff9b:1::/48",
		"2001::/32", // RFC 4380: an IPv4 address inside
		"2002::/16", // RFC 3056: an IPv4 address inside
		"::/96",     // RFC 4291: an IPv4 address inside
	)
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}
