package configs

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/bytesize"
)

// The parsers say what is wrong with a value, without the value: add puts it in front,
// and knows which values are secret.

func parseText(text string) (string, error) { return text, nil }

func parseSecret(text string) (Secret, error) { return Secret{text}, nil }

// parseDatabaseURL takes what names a database of PostgreSQL. What it says of another text has none of it, as that may
// have a password.
func parseDatabaseURL(text string) (Secret, error) {
	if text == "" {
		return Secret{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Path == "" || u.Path == "/" {
		return Secret{}, errors.New("is not like postgres://user:password@host:5432/name")
	}
	return Secret{text}, nil
}

func parseName(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", errors.New("is empty")
	}
	return text, nil
}

func parseBool(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("is neither true nor false")
	}
	return v, nil
}

func parseCount(text string) (int, error) { return parseCountOf(1)(text) }

func parseCountOf(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return 0, fmt.Errorf("is not a whole number above %d", least-1)
		}
		return n, nil
	}
}

// leastConnections leaves room for a few clients, whatever else is wrong.
const leastConnections = 16

func parseConnections(text string) (int, error) {
	if text == "auto" {
		return AutoConnections, nil
	}
	n, err := parseCountOf(leastConnections)(text)
	if err != nil {
		return 0, fmt.Errorf("is neither auto nor a whole number above %d", leastConnections-1)
	}
	return n, nil
}

// parseDialects takes NoDialects for none.
func parseDialects(text string) ([]string, error) {
	var list []string
	if text == NoDialects {
		return list, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		if !slices.Contains(AllDialects(), one) || slices.Contains(list, one) {
			return nil, errors.New("is neither " + NoDialects + " nor a list, each once, of " +
				strings.Join(AllDialects(), ", "))
		}
		list = append(list, one)
	}
	return list, nil
}

// parseScopes wants openid among them, without which there is no ID token.
func parseScopes(text string) (string, error) {
	scopes := strings.Fields(text)
	if !slices.Contains(scopes, "openid") {
		return "", errors.New("does not have openid")
	}
	return strings.Join(scopes, " "), nil
}

// parseRate takes "off" for no limit, which is 0.
func parseRate(text string) (int, error) {
	if text == "off" {
		return 0, nil
	}
	n, err := parseCount(text)
	if err != nil {
		return 0, errors.New("is neither off nor a whole number above 0")
	}
	return n, nil
}

// parseMemory takes "auto" and "off" beside a size.
func parseMemory(text string) (int64, error) {
	switch text {
	case "auto":
		return AutoMemory, nil
	case "off":
		return NoMemoryLimit, nil
	}
	n, err := bytesize.Parse(text)
	if err != nil {
		return 0, errors.New("is neither auto nor off nor a size such as 512MiB")
	}
	return n, nil
}

// parseQuota takes "auto" and "off" beside a size.
func parseQuota(text string) (int64, error) {
	switch text {
	case "auto":
		return AutoQuota, nil
	case "off":
		return NoQuota, nil
	}
	n, err := bytesize.Parse(text)
	if err != nil {
		return 0, errors.New("is neither auto nor off nor a size such as 20GiB")
	}
	return n, nil
}

// leastReserve is what a few releases of locks take, with what a database needs to commit.
const leastReserve = 8 << 20

// parseReserve takes "off" beside a size, for 0.
func parseReserve(text string) (int64, error) {
	if text == "off" {
		return 0, nil
	}
	n, err := bytesize.Parse(text)
	if err != nil || n < leastReserve {
		return 0, errors.New("is neither off nor a size of 8MiB or more")
	}
	return n, nil
}

func parsePort(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > math.MaxUint16 {
			return 0, fmt.Errorf("is not a port (%d to %d)", least, math.MaxUint16)
		}
		return n, nil
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// parseHost takes an IP address or a host name. An empty one is refused because
// net.Listen would take it for every interface.
func parseHost(text string) (string, error) {
	if _, err := netip.ParseAddr(text); err != nil && !hostName.MatchString(text) {
		return "", errors.New("is not an IP address or a host name (no port, no brackets)")
	}
	return text, nil
}

// parseHostOrSocket also takes the absolute path of a Unix socket.
func parseHostOrSocket(text string) (string, error) {
	if strings.HasPrefix(text, "/") {
		return text, nil
	}
	if _, err := parseHost(text); err != nil {
		return "", errors.New("is not an IP address, a host name (no port, no brackets) or the absolute path of a socket")
	}
	return text, nil
}

func parseNetworks(text string) ([]netip.Prefix, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var networks []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		network, err := parseNetwork(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// parseNetwork takes one address or CIDR network. Bits beyond the network's length are
// refused: 10.0.0.1/8 trusts far more than whoever wrote it may have meant.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("has %q, which is neither an IP address nor a CIDR network", text)
	}
	if network != network.Masked() {
		return netip.Prefix{}, fmt.Errorf("has %q; that network is written %s", text, network.Masked())
	}
	return network, nil
}

// parseOptionalAddress is parseAddress, or nothing.
func parseOptionalAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return parseAddress(text)
}

// parseAddress takes an http or https address. It may have no credentials: addresses are logged.
func parseAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", errors.New("is no address that begins with https:// or http://")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("is an address with a user, a query or a fragment, which it may not have")
	}
	return text, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("is not a duration above 0, such as 30s or 5m")
	}
	return d, nil
}

// leastLease is the shortest lease: executors renew theirs several times within it, and the
// shortest time between two renewals is a second.
const leastLease = 5 * time.Second

func parseLease(text string) (time.Duration, error) {
	d, err := parseDuration(text)
	if err == nil && d < leastLease {
		return 0, fmt.Errorf("is below %s, the shortest lease", leastLease)
	}
	return d, err
}

// parseWait takes a duration that may be 0.
func parseWait(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("is neither 0 nor a duration such as 30s or 5m")
	}
	return d, nil
}

func parseChoice(choices ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(choices, text) {
			return "", errors.New("is not one of " + strings.Join(choices, ", "))
		}
		return text, nil
	}
}

// parseOptionalChoice also takes nothing.
func parseOptionalChoice(choices ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if text == "" {
			return "", nil
		}
		return parseChoice(choices...)(text)
	}
}

// parseLevel takes the four names only; slog's own parser would also take "info+2".
func parseLevel(text string) (level slog.Level, err error) {
	if _, err := parseChoice("debug", "info", "warn", "error")(text); err != nil {
		return 0, err
	}
	return level, level.UnmarshalText([]byte(text))
}

// parseIssuer wants nobody to read on the way what an issuer says of people. Empty is none.
func parseIssuer(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("is not an address such as https://login.example.com")
	}
	address, err := netip.ParseAddr(u.Hostname())
	onLoopback := u.Hostname() == "localhost" || err == nil && address.IsLoopback()
	if u.Scheme == "https" || u.Scheme == "http" && onLoopback {
		return text, nil
	}
	return "", errors.New("does not begin with https://, and http:// is for this machine only")
}
