package bench

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"

	"github.com/google/uuid"
)

// Identity is an organization's key.
type Identity struct {
	Org uuid.UUID
	Key string
}

// Target is a server and who asks it. Connections take the identities in turn.
type Target struct {
	// Address is the base of its URLs, such as http://127.0.0.1:7777.
	Address    string
	Identities []Identity
}

func (i Identity) authorization() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(i.Org.String()+":"+i.Key))
}

// place is a target's address, taken apart.
type place struct {
	secure     bool
	host, port string
	path       string // what all paths begin with
}

func (t Target) place() (place, error) {
	u, err := url.Parse(t.Address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return place{}, fmt.Errorf("the server's address is not a URL such as http://127.0.0.1:7777")
	}
	p := place{secure: u.Scheme == "https", host: u.Hostname(), port: u.Port(), path: u.Path}
	if p.port == "" {
		p.port = u.Scheme // a port's name is as good as its number
	}
	return p, nil
}

func (p place) dial(ctx context.Context) (net.Conn, error) {
	address := net.JoinHostPort(p.host, p.port)
	if p.secure {
		return (&tls.Dialer{}).DialContext(ctx, "tcp", address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}
