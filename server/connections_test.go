package server

import (
	"net/netip"
	"testing"

	"github.com/holdfast/holdfast/configs"
)

// However few files the process may have open, data gets its part, and clients get some.
func TestConnectionsFollowOpenFiles(t *testing.T) {
	for files, want := range map[uint64]int{
		0: mostConnections, 64: 32, 256: 128, 512: 320, 1024: 768, 4096: 3072, 12_000: 9000, 20_000: mostConnections,
		1 << 40: mostConnections, 1<<64 - 1: mostConnections,
	} {
		if got := connectionsFor(files); got != want || files > 0 && uint64(got) > files-min(files/4, dataFiles) {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
}

func TestConnectionLimits(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	for _, test := range []struct{ total, perAddress, wantTotal, wantPerAddress int }{
		{configs.AutoConnections, configs.AutoConnections, 320, 80},
		{400, configs.AutoConnections, 400, 100},
		{configs.AutoConnections, 20, 320, 20},
		{2000, 30, 2000, 30},
	} {
		settings := configs.Settings{
			Server: configs.Server{TrustedProxies: proxies},
			Limits: configs.Limits{MaxConnections: test.total, MaxConnectionsPerAddress: test.perAddress},
		}
		got := connectionLimits(settings, 512)
		if got.Total != test.wantTotal || got.PerAddress != test.wantPerAddress || len(got.Trusted) != 1 {
			t.Errorf("%+v: %+v", test, got)
		}
		if begun := limitsOf(settings, got, nil).Begun; begun >= got.Total || begun < got.Total/2 {
			t.Errorf("%d requests may have begun on %d connections", begun, got.Total)
		}
	}
}
