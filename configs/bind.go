package configs

import (
	"net/netip"
	"slices"
)

// checkBind refuses to serve in the clear where other machines reach it, unless somebody
// has said that this is meant.
func (from Sources) checkBind(s Server, last map[string]value, faults *Faults) {
	if from.Resolve == nil || s.EnableTLS || s.AllowPlaintext || len(s.TrustedProxies) > 0 {
		return
	}
	host := last["[server] host"]
	local, err := onlyLoopback(s.Host, from.Resolve)
	switch {
	case err != nil:
		faults.add(host.place, "%q can't be resolved, and without TLS it must be this machine alone: %v", s.Host, err)
	case !local:
		faults.add(host.place, "%q is reached from other machines, and without TLS keys and states would cross the network "+
			"in the clear: "+
			"set enable_tls (ENABLE_TLS, --enable-tls); or name the proxy in front that has TLS in trusted_proxies "+
			"(HOLDFAST_TRUSTED_PROXIES, --trusted-proxies); or, where nobody can listen in, set allow_plaintext "+
			"(HOLDFAST_ALLOW_PLAINTEXT, --allow-plaintext)", s.Host)
	}
}

// onlyLoopback reports whether all addresses of the host are of this machine alone.
func onlyLoopback(host string, resolve func(string) ([]netip.Addr, error)) (bool, error) {
	addresses := []netip.Addr{}
	if literal, err := netip.ParseAddr(host); err == nil {
		addresses = append(addresses, literal)
	} else if addresses, err = resolve(host); err != nil {
		return false, err
	}
	outside := func(a netip.Addr) bool { return !a.Unmap().IsLoopback() }
	return len(addresses) > 0 && !slices.ContainsFunc(addresses, outside), nil
}
