package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

const certificateRules = `
[11111111-2222-3333-4444-555555555555]
name = Acme
[11111111-2222-3333-4444-555555555555.cert.ci]
san  = dns:ci.acme.example, uri:spiffe://acme.example/ci
role = writer
[11111111-2222-3333-4444-555555555555.cert.ops]
san     = dns:ops.acme.example
role    = reader
expires = 2027-01-31T00:00:00Z
from    = 10.0.0.0/8
[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]
[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.cert.ci]
san  = dns:ci.globex.example
role = owner
`

func TestCertificateStandsForSomebody(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(parse(t, certificateRules))
	before, after := time.Date(2027, 1, 30, 23, 59, 59, 0, time.UTC).Unix(),
		time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC).Unix()
	end := time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC) // of every certificate
	for name, c := range map[string]struct {
		sans    string
		address string
		at      int64
		want    string // key and subject, or the code of the refusal
	}{
		"one name": {"dns:ci.acme.example", "192.0.2.1", 0, "Acme cert.ci writer dns:ci.acme.example"},
		"an unknown name beside": {"ip:192.0.2.1 dns:ci.acme.example email:a@acme.example", "192.0.2.1", 0,
			"Acme cert.ci writer dns:ci.acme.example"},
		"two names of one rule": {"uri:spiffe://acme.example/ci dns:ci.acme.example", "192.0.2.1", 0,
			"Acme cert.ci writer uri:spiffe://acme.example/ci"},
		"another organization's": {"dns:ci.globex.example", "192.0.2.1", 0, " cert.ci owner dns:ci.globex.example"},
		"two rules":              {"dns:ci.acme.example dns:ops.acme.example", "10.0.0.1", 0, wrongly},
		"two organizations":      {"dns:ci.acme.example dns:ci.globex.example", "192.0.2.1", 0, wrongly},
		"nobody":                 {"dns:acme.example", "192.0.2.1", 0, wrongly},
		"no name":                {"", "192.0.2.1", 0, wrongly},
		"in time and from there": {"dns:ops.acme.example", "10.0.0.1", before,
			"Acme cert.ops reader dns:ops.acme.example"},
		"too late": {"dns:ops.acme.example", "10.0.0.1", after, "key_expired"},
		"in time with its certificate": {"dns:ci.acme.example", "192.0.2.1", end.Unix() - 1,
			"Acme cert.ci writer dns:ci.acme.example"},
		"later than its certificate":     {"dns:ci.acme.example", "192.0.2.1", end.Unix(), "key_expired"},
		"from elsewhere":                 {"dns:ops.acme.example", "192.0.2.1", before, "address_refused"},
		"from an address that isn't one": {"dns:ops.acme.example", "", before, "address_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			b.now.Store(c.at)
			p, err := b.VerifyCertificate(context.Background(), auth.Certificate{SANs: strings.Fields(c.sans), NotAfter: end},
				auth.Client{Address: c.address, Request: "req-1"})
			got := strings.Join([]string{p.OrgName, p.KeyID, string(p.Role), p.Subject}, " ")
			if err != nil {
				got = string(fault.From(err).Code)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err == nil && (p.Address != c.address || p.Request != "req-1" || p.KeyID != "cert."+p.KeyName || p.Org != orgA &&
				p.Org != orgB) {
				t.Errorf("%+v", p)
			}
		})
	}
	b.Use(parse(t, "["+orgA.String()+"]\n"))
	if _, err := b.VerifyCertificate(context.Background(),
		auth.Certificate{SANs: []string{"dns:ci.acme.example"}, NotAfter: end}, auth.Client{}); !fault.Is(err,
		fault.CredentialsWrong) {
		t.Errorf("after the rule was taken away: %v", err)
	}
	if !strings.Contains(b.log.String(), "credentials refused") {
		t.Error("refusals are not in the log")
	}
}

// Vulnerability: a certificate may have thousands of names, and each request with it fills the log.
// Check: the log has the first ones of somebody unknown.
func TestLogHasFewNamesOfACertificate(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(parse(t, certificateRules))
	sans := strings.Fields("dns:stranger.example " + strings.Repeat("dns:é.example ", 1000))
	_, err := b.VerifyCertificate(context.Background(), auth.Certificate{SANs: sans, NotAfter: time.Now().Add(time.Hour)},
		auth.Client{Address: "192.0.2.1"})
	if log := b.log.String(); !fault.Is(err, fault.CredentialsWrong) ||
		!strings.Contains(log, "unknown: dns:stranger.example, ") || len(log) > 1000 {
		t.Errorf("%v, and the log has %d bytes", err, len(log))
	}
}
