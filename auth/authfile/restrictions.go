package authfile

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/bytesize"
)

// maxLimit is the highest rate limit, in requests a minute.
const maxLimit = 1_000_000

// readLimit reads a rate limit in requests a minute; "off" is Unlimited.
func readLimit(text string) (int, string) {
	if text == "off" {
		return auth.Unlimited, ""
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > maxLimit {
		return 0, "not a rate limit: requests a minute, 1 to 1000000, or off"
	}
	return int(n), ""
}

// readQuota reads how many bytes an organization may have stored.
func readQuota(text string) (int64, string) {
	if text == "off" {
		return auth.Unlimited, ""
	}
	n, err := bytesize.Parse(text)
	if err != nil {
		return 0, "not a quota: a size such as 20GiB, or off"
	}
	return n, ""
}

// ParseExpiry returns the first moment that is too late. A date such as 2027-01-31 is good
// through the end of its day, in UTC; a moment such as 2027-01-31T12:00:00Z until then.
func ParseExpiry(text string) (time.Time, error) {
	moment, err := time.Parse(time.DateOnly, text)
	if err == nil {
		moment = moment.AddDate(0, 0, 1)
	} else if moment, err = time.Parse(time.RFC3339, text); err != nil {
		return time.Time{}, errors.New("not a date such as 2027-01-31, nor a moment such as 2027-01-31T12:00:00Z")
	}
	moment = moment.UTC()
	// The year 1 begins with the time that stands for never, and JSON has no year 10000.
	if moment.Year() < 1970 || moment.Year() > 9998 {
		return time.Time{}, errors.New("not in the years 1970 to 9998; what is good for ever has no expiry")
	}
	return moment, nil
}

// FormatExpiry is the opposite of ParseExpiry: the last day, when the moment is the end of
// one. Parts of a second are cut off. The zero time, which is never, has no text.
func FormatExpiry(moment time.Time) string {
	moment = moment.UTC().Truncate(time.Second)
	switch {
	case moment.IsZero():
		return ""
	case moment.Equal(moment.Truncate(24 * time.Hour)):
		return moment.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return moment.Format(time.RFC3339)
}

// ParseNetworks reads addresses and networks such as "10.0.0.0/8, 2001:db8::1".
func ParseNetworks(text string) ([]netip.Prefix, error) {
	list, problem := readList(text)
	if problem != "" {
		return nil, errors.New(problem)
	}
	prefixes := make([]netip.Prefix, len(list))
	for i, entry := range list {
		if prefixes[i], problem = readPrefix(entry); problem != "" {
			return nil, errors.New(problem)
		}
	}
	return prefixes, nil
}

// FormatNetworks is the opposite of ParseNetworks.
func FormatNetworks(networks []netip.Prefix) string {
	texts := make([]string, len(networks))
	for i, network := range networks {
		if texts[i] = network.String(); network.IsSingleIP() {
			texts[i] = network.Addr().String()
		}
	}
	return strings.Join(texts, ", ")
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
		return netip.Prefix{}, "a network whose address goes on beyond the length of its prefix; 10.0.0.0/8 is right, " +
			"10.0.0.1/8 is not"
	}
	return prefix, ""
}

// lastDay is the last day on which something that expires then is good, in UTC.
func lastDay(expires time.Time) string {
	return expires.UTC().Add(-time.Nanosecond).Format(time.DateOnly)
}
