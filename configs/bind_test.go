package configs

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// names resolves what a test's network knows.
func names(host string) ([]netip.Addr, error) {
	known := map[string]string{
		"localhost": "127.0.0.1,::1", "mapped": "::ffff:127.0.0.1", "inside": "10.0.0.7", "both": "127.0.0.1,10.0.0.7",
		"empty": "",
	}
	list, ok := known[host]
	if !ok {
		return nil, errors.New("no such host")
	}
	var addresses []netip.Addr
	for text := range strings.SplitSeq(list, ",") {
		if text != "" {
			addresses = append(addresses, netip.MustParseAddr(text))
		}
	}
	return addresses, nil
}

func (in inputs) serving(t *testing.T) error {
	t.Helper()
	_, err := Load(Sources{Environ: in.env, Resolve: names})
	return err
}

// Without TLS, only this machine may reach the server.
func TestPlaintextStaysOnThisMachine(t *testing.T) {
	for host, local := range map[string]bool{
		"127.0.0.1": true, "127.9.8.7": true, "::1": true, "::ffff:127.0.0.1": true, "localhost": true, "mapped": true,
		"0.0.0.0": false, "::": false, "10.0.0.7": false, "203.0.113.9": false, "fe80::1%eth0": false,
		"::ffff:10.0.0.7": false,
		"inside":          false, "both": false, "empty": false, "unknown": false,
	} {
		err := inputs{env: []string{"HOST=" + host}}.serving(t)
		if local && err != nil {
			t.Errorf("%s: %v", host, err)
		}
		if !local && (err == nil || !strings.HasPrefix(err.Error(), "HOST: ") ||
			!strings.Contains(err.Error(), "without TLS")) {
			t.Errorf("%s: %v; want it refused", host, err)
		}
	}
	if err := (inputs{}).serving(t); err != nil {
		t.Errorf("by default: %v", err)
	}
}

func TestPlaintextThatIsMeant(t *testing.T) {
	cert, key := writePair(t)
	for name, env := range map[string][]string{
		"TLS":      {"ENABLE_TLS=true", "TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key},
		"a proxy":  {"HOLDFAST_TRUSTED_PROXIES=10.0.0.1"},
		"explicit": {"HOLDFAST_ALLOW_PLAINTEXT=true"},
	} {
		for _, host := range []string{"0.0.0.0", "unknown"} {
			if err := (inputs{env: append(env, "HOST="+host)}).serving(t); err != nil {
				t.Errorf("%s, %s: %v", name, host, err)
			}
		}
	}
	if err := (inputs{env: []string{"HOLDFAST_ALLOW_PLAINTEXT=false", "HOST=::"}}).serving(t); err == nil {
		t.Error("an explicit no is taken for a yes")
	}
}

// The message is one of all, and says what to do. Commands that don't listen are not held
// up by it.
func TestPlaintextIsReportedWithTheRest(t *testing.T) {
	in := inputs{env: []string{"HOST=0.0.0.0", "HOLDFAST_LOG_LEVEL=loud"}}
	err := in.serving(t)
	if faults, ok := errors.AsType[*Faults](err); !ok || len(faults.List) != 2 {
		t.Fatalf("got %v", err)
	}
	for _, way := range []string{"--enable-tls", "HOLDFAST_TRUSTED_PROXIES", "--allow-plaintext"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("%s is not offered: %v", way, err)
		}
	}
	if s := (inputs{env: []string{"HOST=0.0.0.0"}}).mustLoad(t); s.Server.Host != "0.0.0.0" {
		t.Errorf("got %+v", s.Server)
	}
}
