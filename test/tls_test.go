//go:build e2e

package test

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast/holdfast/internal/certs/certstest"
)

// certificate writes cert.pem and key.pem, signed by a new authority that only $CA knows.
func certificate(w *world, ts *testscript.TestScript, _ []string) error {
	authority := certstest.NewAuthority("an authority of a test")
	ts.Setenv("CA", string(authority.PEM))
	return authority.ForAddress(w.server.host).Write(ts.MkAbs("cert.pem"), ts.MkAbs("key.pem"))
}
