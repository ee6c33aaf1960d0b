package webhook

import (
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Receiver is where an organization's notices go, and how. It has secrets, of which nothing may
// stand in a log: the address as a whole, Secret and HeaderValue.
type Receiver struct {
	URL string
	// Secret signs the notices; nil for no signature.
	Secret []byte
	// HeaderName and HeaderValue are sent with each notice; empty for none.
	HeaderName, HeaderValue string
	// Wants are the events that it is told of.
	Wants audit.Selection
	// Name is that of the organization; may be empty.
	Name string
}

// Receivers says where notices go. It is asked for each try, so that a change holds at once.
type Receivers interface {
	// Receiver returns false for an organization whose notices go nowhere.
	Receiver(org uuid.UUID) (Receiver, bool)
}
