package configs

import (
	"crypto/tls"
	"os"

	"github.com/holdfast/holdfast/internal/certs"
)

// checkTLS looks for what TLS needs, so that a missing or wrong certificate is reported
// with everything else rather than when the listener opens.
func checkTLS(loaded Settings, last map[string]value, faults *Faults) {
	if !loaded.Server.EnableTLS {
		return
	}
	checkAuthorities(last["[server] client_ca_file"], faults)
	cert, key := last["[server] tls_cert_file"], last["[server] tls_key_file"]
	certFound := checkTLSFile(cert, last, faults)
	if keyFound := checkTLSFile(key, last, faults); !certFound || !keyFound {
		return
	}
	if _, err := tls.LoadX509KeyPair(cert.text, key.text); err != nil {
		faults.add(cert.place, "%q and %q are no certificate with its key: %v", cert.text, key.text, cause(err))
	}
}

// checkAuthorities looks at a file of certificates, where one is named.
func checkAuthorities(v value, faults *Faults) {
	if v.text == "" {
		return
	}
	text, err := os.ReadFile(v.text)
	if err == nil {
		_, err = certs.ParseAuthorities(text)
	}
	if err != nil {
		faults.add(v.place, "%q can't be used: %v", v.text, cause(err))
	}
}

func checkTLSFile(v value, last map[string]value, faults *Faults) (readable bool) {
	if v.text == "" {
		faults.add(last["[server] enable_tls"].place, "TLS is on, but %s (%s, --%s) is not set", v.name(), v.env, v.flag())
		return false
	}
	if _, err := os.ReadFile(v.text); err != nil {
		faults.add(v.place, "%q can't be read: %v", v.text, cause(err))
		return false
	}
	return true
}
