package sqluploads

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/holdfast/holdfast/fault"
)

// TestAway takes what keeps everybody from the database for an outage, not for a fault of
// what is stored.
func TestAway(t *testing.T) {
	for _, err := range []error{
		&mysqldriver.MySQLError{Number: 1049, Message: "Unknown database 'holdfast'"},
		&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{}}},
		&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
		mysqldriver.ErrNoTLS,
	} {
		if got := (mysql{}).fault(fmt.Errorf("connect: %w", err)); !fault.Is(got, fault.StoreUnavailable) {
			t.Errorf("%v became %v", err, got)
		}
	}
}
