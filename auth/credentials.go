package auth

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

// Credentials are what a caller sent to say who they are, unverified.
type Credentials struct {
	Org uuid.UUID
	Key string
	// Name is what stood where an organization's UUID may stand, when it was none: for people who
	// look for what was sent. It says nothing about who the caller is.
	Name string
}

// How much of what a caller calls itself may be told: the beginning, as it may be a secret that
// was put in the wrong place.
const toldOfName = 8

// Whose tells whose credentials these claim to be, for the log: an organization, or the beginning
// of a name that is none.
func (c Credentials) Whose() string {
	if c.Org != uuid.Nil || c.Name == "" {
		return c.Org.String()
	}
	name := []rune(strings.ToValidUTF8(c.Name, "?"))
	if len(name) > toldOfName {
		name = append(name[:toldOfName], '…')
	}
	return string(name)
}

// String leaves the key out, so that no log shows it.
func (c Credentials) String() string { return "a key of " + c.Org.String() }

// GoString is String, for %#v.
func (c Credentials) GoString() string { return c.String() }

// Client is where a call comes from.
type Client struct {
	Address string // IP address without port
	Request string // request ID
}

// Certificate is what counts of a client certificate that the server has verified.
type Certificate struct {
	SANs []string // as CertificateSANs spells them
	// NotAfter is when it ends, for a connection too that began before.
	NotAfter time.Time
}

// tokenStart is how every token's header begins: it is {" in base64url.
const tokenStart = "eyJ"

// IsToken reports whether what came in the place of a key is a JSON Web Token by its form:
// three parts in base64url, longer than any key. It says nothing about whether it is good.
func IsToken(key string) bool {
	return len(key) > MaxKeyLength && strings.HasPrefix(key, tokenStart) &&
		strings.Count(key, ".") == 2 && onlyOf(key, base62Digits+"-_.")
}
