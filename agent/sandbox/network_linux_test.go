package sandbox

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// listener is a service of the machine that a command may find.
func listener(t *testing.T, network, address string) (port uint16) {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String()).Port()
}

// Scenario: a configuration asks what listens on the machine, and who the machine is for its
// cloud. Check: it reaches Holdfast, and nothing else there.
func TestLoopbackAndMetadataAreClosed(t *testing.T) { worlds(t, checkLoopbackAndMetadataAreClosed) }

func checkLoopbackAndMetadataAreClosed(t *testing.T, w world) {
	own, other := listener(t, "tcp", "127.0.0.1:0"), listener(t, "tcp", "127.0.0.1:0")
	p := w.policy()
	p.Network.Allow = []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), own)}
	r := w.attempt(p, "tcp", fmt.Sprintf("127.0.0.1:%d", own))
	if !r.ok() {
		t.Errorf("our own port: %v, %s, %q", r.err, r.Error, r.output)
	}
	if !r.Report.Closed {
		if len(r.Report.Why) == 0 || r.Report.Network != "open" {
			t.Errorf("the report doesn't say that the network is open: %+v", r.Report)
		}
		t.Skipf("the network can't be closed here: %v", r.Report.Why)
	}
	six := listener(t, "tcp", "[::]:0")
	for _, args := range [][]string{
		{"tcp", fmt.Sprintf("127.0.0.1:%d", other)},
		{"tcp", fmt.Sprintf("127.1.2.3:%d", six)},
		{"tcp", fmt.Sprintf("0.0.0.0:%d", other)},
		{"tcp", fmt.Sprintf("[::1]:%d", six)},
		{"tcp", fmt.Sprintf("[::]:%d", six)},
		{"tcp6", fmt.Sprintf("127.0.0.1:%d", other)}, // as ::ffff:127.0.0.1
		{"mptcp", fmt.Sprint(other)},
		{"udp", fmt.Sprintf("127.0.0.1:%d", other)},
		{"udp-unconnected", fmt.Sprintf("127.0.0.1:%d", other)},
		{"udp", "169.254.169.254:80"},
		{"tcp", "169.254.169.254:80"},
		{"tcp", "[fd00:ec2::254]:80"},
	} {
		r := w.attempt(p, args...)
		refused(t, strings.Join(args, " "), r)
		if !strings.Contains(r.output, "not permitted") {
			t.Errorf("%v: it is the network that says %q", args, r.output)
		}
	}
}

// Vulnerability: commands go on while their server is stopped, and share the machine's network with it.
// Scenario: a command listens at the server's port as soon as that is free, and is shown keys.
// Check: nobody listens there but the server; other ports are free.
func TestServersPortIsItsOwn(t *testing.T) { worlds(t, checkServersPortIsItsOwn) }

func checkServersPortIsItsOwn(t *testing.T, w world) {
	own, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	at := netip.MustParseAddrPort(own.Addr().String())
	must(t, own.Close())
	p := w.policy()
	p.Network.Allow = []netip.AddrPort{at}
	r := w.attempt(p, "listen", "tcp", "127.0.0.1:0")
	if !r.ok() {
		t.Errorf("a port of the kernel's choice: %v, %q", r.err, r.output)
	}
	if !r.Report.Closed {
		t.Skipf("the network can't be closed here: %v", r.Report.Why)
	}
	for _, address := range []string{"127.0.0.1", "0.0.0.0", "127.1.2.3", "[::]", "[::1]"} {
		r := w.attempt(p, "listen", "tcp", fmt.Sprintf("%s:%d", address, at.Port()))
		if refused(t, address, r); !strings.Contains(r.output, "not permitted") {
			t.Errorf("%s: %q", address, r.output)
		}
	}
	for port := at.Port() + 1; ; port++ {
		r := w.attempt(p, "listen", "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if strings.Contains(r.output, "address already in use") {
			continue // by somebody else on this machine
		}
		if !r.ok() {
			t.Errorf("another port: %v, %q", r.err, r.output)
		}
		break
	}
}

func TestNetworkThatIsLeftOpen(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	p.Network.Open = true
	if r := w.attempt(p, "tcp", fmt.Sprintf("127.0.0.1:%d", listener(t, "tcp", "127.0.0.1:0"))); !r.ok() ||
		r.Report.Closed {
		t.Errorf("%v, %+v, %q", r.err, r.Answer, r.output)
	}
}

func TestNetworkThatMustBeClosed(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	p.Network.RequireClosed, p.Network.Open = true, true // what can't be, at once
	if err := p.Validate(); err == nil {
		t.Error("a network is open and closed")
	}
	var order Order
	order.Policy = w.policy()
	order.Policy.Network.RequireClosed = true
	report := Report{Level: Landlock, Network: "open"}
	if err := judge(order.Policy, report); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an open network: %v", err)
	}
	report.Closed = true
	must(t, judge(order.Policy, report))
}

func TestPortsAreRestricted(t *testing.T) {
	if landlockABI() < abiConnect {
		t.Skip("this kernel's Landlock knows no ports")
	}
	w := newWorld(t)
	allowed, other := listener(t, "tcp", "127.0.0.1:0"), listener(t, "tcp", "127.0.0.1:0")
	p := w.policy()
	p.Network.Open = false
	p.Network.Allow = []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), allowed)}
	p.Network.Ports = []uint16{443}
	if r := w.attempt(p, "tcp", fmt.Sprintf("127.0.0.1:%d", allowed)); !r.ok() ||
		!strings.Contains(r.Report.Network, "[443]") {
		t.Errorf("%v, %+v, %q", r.err, r.Answer, r.output)
	}
	refused(t, "another port", w.attempt(p, "tcp", fmt.Sprintf("127.0.0.1:%d", other)))
}

func TestClosedAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "::ffff:127.0.0.1": true, "169.254.169.254": true, "fd00:ec2::254": true, "fe80::1": true,
		"::1":      true,
		"10.0.0.1": false, "8.8.8.8": false, "fd00:ec2::253": false, "2001:db8::1": false,
	} {
		if got := isClosed(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is closed: %v", text, got)
		}
	}
}

func TestCgroupIsFound(t *testing.T) {
	const info = `24 30 0:22 / /proc rw - proc proc rw
31 30 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw
40 31 0:29 /docker/abc /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw
`
	root, mount, ok := cgroupMount(info)
	if !ok || root != "/docker/abc" || mount != "/sys/fs/cgroup/unified" {
		t.Errorf("found %q at %q, %v", root, mount, ok)
	}
	if _, _, ok := cgroupMount("24 30 0:22 / /proc rw - proc proc rw\n"); ok {
		t.Error("found one where there is none")
	}
}
