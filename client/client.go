// Package client talks to a Holdfast server, in the types of package api.
//
// Every call may be sent twice, so the client repeats what the server is too busy for, as
// often and as late as the server says. A call that the server refuses returns an *Error, whose
// code IsCode looks at. What is large goes through an io.Reader or comes one by one.
package client

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/pause"
)

const (
	// maxTries is how often a request is sent that the server has no time for.
	maxTries = 5
	// maxWait is the longest wait that a server may ask for between two of them.
	maxWait = time.Minute
)

// Options say which server to ask, for whom and how.
type Options struct {
	// Address is the server's, such as https://holdfast.example.com, without a path.
	Address string
	// Org and Key are the credentials. Without a key none are sent: probes need none.
	Org uuid.UUID
	Key string
	// HTTP sends the requests; nil for a client of its own. Its CheckRedirect is not used: a
	// redirect could lead the key elsewhere, so none is followed.
	HTTP *http.Client
	// Tries is how often a request is sent in all; 0 for 5 times, 1 for once.
	Tries int
	// Pause waits between two tries; nil for Pause.
	Pause func(context.Context, time.Duration) error
	// Retrying is told before each wait why and how long it is; may be nil.
	Retrying func(reason error, wait time.Duration)
}

// Client asks a server as one organization. It is safe for concurrent use.
type Client struct {
	options Options // without a nil
	http    *http.Client
}

// New returns a client. It asks the server nothing.
func New(o Options) *Client {
	o.Address, o.Tries = strings.TrimSuffix(o.Address, "/"), cmp.Or(o.Tries, maxTries)
	if o.Pause == nil {
		o.Pause = Pause
	}
	if o.Retrying == nil {
		o.Retrying = func(error, time.Duration) {}
	}
	var sender http.Client
	if o.HTTP != nil {
		sender = *o.HTTP
	} else {
		sender.Transport = newTransport()
	}
	sender.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{options: o, http: &sender}
}

func newTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	transport.ResponseHeaderTimeout = 5 * time.Minute // a filter may match nothing for long
	return transport
}

// Once returns a client that repeats nothing, and shares the connections of this one.
func (c *Client) Once() *Client {
	once := *c
	once.options.Tries = 1
	return &once
}

// Pause waits for so long, or until ctx ends, whose error it returns then.
func Pause(ctx context.Context, d time.Duration) error { return pause.For(ctx, d) }
