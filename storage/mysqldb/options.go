package mysqldb

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// What Options.TLS can be.
const (
	TLSOff        = "off"
	TLSPreferred  = "preferred"   // when the server offers it, whoever it is
	TLSRequired   = "required"    // with a certificate that is good for the host
	TLSSkipVerify = "skip-verify" // with any certificate
)

// Options says where the database is and how it is reached. Zero durations and counts take
// the defaults; Log is needed.
type Options struct {
	Host     string // name, IP address, or the path of a Unix socket
	Port     int
	User     string
	Password string `json:"-"`
	Name     string // of the database, made when it is missing and the user may

	TLS       string // empty is TLSPreferred
	TLSCAFile string // PEM; empty trusts the system's authorities

	MaxOpenConns    int
	MaxIdleConns    int
	ConnMaxLifetime time.Duration
	// ConnectTimeout bounds the making of one connection.
	ConnectTimeout time.Duration
	// writing connections are in a transaction from their first statement on (see Writing).
	writing bool
	// often are the queries that are prepared (see Preparing).
	often map[string]bool
	// greet is called with new connections (see Greeting).
	greet Greet
	// FoundRows has an UPDATE count the rows that it found, as SQLite does, and not only those
	// that it changed.
	FoundRows bool

	Log *slog.Logger
}

// String names the database without the password.
func (o Options) String() string { return o.Name + " at " + o.Address() }

// GoString keeps the password out of %#v.
func (o Options) GoString() string { return o.String() }

// LogValue keeps the password out of the log.
func (o Options) LogValue() slog.Value { return slog.StringValue(o.String()) }

func (o Options) socket() bool { return strings.HasPrefix(o.Host, "/") }

// Address is where the server is, for people.
func (o Options) Address() string {
	if o.socket() {
		return o.Host
	}
	return net.JoinHostPort(o.Host, strconv.Itoa(o.Port))
}

// WithDefaults fills in what is zero.
func (o Options) WithDefaults() (Options, error) {
	if o.Log == nil {
		return o, errors.New("mysqldb: Options.Log is needed")
	}
	o.MaxOpenConns = cmp.Or(o.MaxOpenConns, 16)
	o.MaxIdleConns = cmp.Or(o.MaxIdleConns, o.MaxOpenConns)
	o.ConnMaxLifetime = cmp.Or(o.ConnMaxLifetime, 5*time.Minute)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 5*time.Second)
	o.TLS = cmp.Or(o.TLS, TLSPreferred)
	return o, nil
}

// config returns what the driver needs to reach the database of this name; without a
// name, the server.
func (o Options) config(name string) (*driver.Config, error) {
	c := driver.NewConfig()
	c.Net, c.Addr = "tcp", o.Address()
	c.User, c.Passwd, c.DBName = o.User, o.Password, name
	c.Timeout = o.ConnectTimeout
	c.ParseTime, c.Loc = true, time.UTC
	c.InterpolateParams = true // one round trip for a statement instead of two
	c.MaxAllowedPacket = 0     // ask the server
	c.ClientFoundRows = o.FoundRows
	c.MultiStatements = o.writing
	c.RejectReadOnly = true // after a failover, look for the new primary
	c.Logger = driverLog{o.Log}
	if o.socket() {
		c.Net = "unix"
		return c, nil // it leads to this machine: there is nothing to encrypt
	}
	return c, o.configTLS(c)
}

func (o Options) configTLS(c *driver.Config) error {
	if o.TLSCAFile != "" && o.TLS != TLSRequired {
		return fmt.Errorf("mysqldb: the authorities of %s are asked only when TLS is %q, and it is %q", o.TLSCAFile,
			TLSRequired, o.TLS)
	}
	switch o.TLS {
	case TLSOff:
		return nil
	case TLSPreferred:
		c.AllowFallbackToPlaintext = true
		c.TLS = &tls.Config{InsecureSkipVerify: true}
		return nil
	case TLSSkipVerify:
		c.TLS = &tls.Config{InsecureSkipVerify: true}
		return nil
	case TLSRequired:
		roots, err := o.roots()
		c.TLS = &tls.Config{ServerName: o.Host, RootCAs: roots}
		return err
	default:
		return fmt.Errorf("mysqldb: there is no TLS mode %q", o.TLS)
	}
}

// roots returns the authorities of TLSCAFile; nil stands for the system's.
func (o Options) roots() (*x509.CertPool, error) {
	if o.TLSCAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(o.TLSCAFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", o.TLSCAFile)
	}
	return roots, nil
}

// driverLog takes what the driver would print on stderr. It repeats what comes back as an
// error, so it is for debugging.
type driverLog struct{ log *slog.Logger }

func (d driverLog) Print(v ...any) { d.log.Debug("database driver", "says", fmt.Sprint(v...)) }
