package auth

import (
	"net/netip"
	"strconv"
	"time"
)

// maxLimit is the highest rate limit, in requests a minute.
const maxLimit = 1_000_000

// readLimit reads a rate limit in requests a minute; "off" is Unlimited.
func readLimit(text string) (int, string) {
	if text == "off" {
		return Unlimited, ""
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > maxLimit {
		return 0, "not a rate limit: requests a minute, 1 to 1000000, or off"
	}
	return int(n), ""
}

// readExpiry returns the first moment that is too late. A date is good through the end of
// its day, in UTC.
func readExpiry(text string) (time.Time, string) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), ""
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, "not a date such as 2027-01-31, nor a moment such as 2027-01-31T12:00:00Z"
	}
	return moment.UTC(), ""
}

// readPrefixes reads addresses and networks such as "10.0.0.0/8, 2001:db8::1".
func readPrefixes(text string) ([]netip.Prefix, string) {
	list, problem := readList(text)
	if problem != "" {
		return nil, problem
	}
	prefixes := make([]netip.Prefix, len(list))
	for i, entry := range list {
		if prefixes[i], problem = readPrefix(entry); problem != "" {
			return nil, problem
		}
	}
	return prefixes, ""
}

func readPrefix(text string) (netip.Prefix, string) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			return netip.Prefix{}, "not a list of addresses and networks such as 10.0.0.0/8, 2001:db8::1"
		}
		prefix = netip.PrefixFrom(address, address.BitLen())
	}
	switch {
	case prefix.Addr().Is4In6():
		return netip.Prefix{}, "an IPv4 address in the clothes of IPv6; write it as 192.0.2.1"
	case prefix != prefix.Masked():
		return netip.Prefix{}, "a network whose address goes on beyond the length of its prefix; 10.0.0.0/8 is right, 10.0.0.1/8 is not"
	}
	return prefix, ""
}
