// Package provider says what the engine asks of a provider, and finds the one a configuration names.
// Providers are programs that speak the plugin protocol (package plugin), or Go values (file, fake and
// builtin).
package provider

import (
	"context"

	"github.com/zclconf/go-cty/cty"
)

// Provider creates, reads, changes and deletes the objects of its resource types.
//
// Values are whole objects of the type's schema. A null value means that there is no object. Calls may come
// from several goroutines at once after Configure has returned. An error tells whether trying again can
// help by being, or not being, a *Fault with Transient; anything else is final.
type Provider interface {
	// Schemas describes the provider's configuration and its types. The answer never changes.
	Schemas(ctx context.Context) (*Schemas, error)

	// Configure hands over the configuration, once, before any other call but Schemas and the Validate ones.
	// It fails for a configuration that is wrong or that lacks credentials.
	Configure(ctx context.Context, config cty.Value) error

	// ValidateResource checks a resource's or data source's configuration, which may hold unknown values.
	ValidateResource(ctx context.Context, kind Kind, typeName string, config cty.Value) error

	// Upgrade brings a recorded object, as JSON of the given version of its schema, to the schema of today.
	Upgrade(ctx context.Context, typeName string, version int64, recorded []byte) (cty.Value, error)

	// Read returns the object as it is now, null if it is gone.
	Read(ctx context.Context, r ReadRequest) (Object, error)

	// Plan predicts what Apply would make of the object, with unknown values for what only Apply will tell.
	// It changes nothing.
	Plan(ctx context.Context, r PlanRequest) (PlanResult, error)

	// Apply does what Plan predicted. With an error it still returns what it knows the object to be
	// afterwards: the zero Object says that it knows nothing.
	Apply(ctx context.Context, r ApplyRequest) (Object, error)

	// ReadData returns a data source's object.
	ReadData(ctx context.Context, typeName string, config cty.Value) (cty.Value, error)

	// Import returns the object that has this ID, to be read afterwards.
	Import(ctx context.Context, typeName, id string) (Object, error)

	// Stop asks calls that run to come back early.
	Stop(ctx context.Context) error

	// Close releases the provider. Nothing is called afterwards.
	Close() error
}

// Kind tells resources from data sources.
type Kind string

// The two kinds.
const (
	Managed Kind = "managed"
	Data    Kind = "data"
)

// Object is an object with what the provider wants to be kept beside it.
type Object struct {
	Value   cty.Value
	Private []byte
}

// ReadRequest asks for an object as it is now.
type ReadRequest struct {
	Type string
	Object
}

// PlanRequest asks what would become of Prior, which is null for a new object. Proposed is the
// configuration with what Prior knows for what the configuration leaves to the provider; null to delete.
type PlanRequest struct {
	Type                    string
	Prior, Proposed, Config cty.Value
	Private                 []byte
}

// PlanResult is the prediction. Paths in RequiresReplace can't change in place.
type PlanResult struct {
	Planned         cty.Value
	RequiresReplace []cty.Path
	Private         []byte

	// Legacy providers were made before values had exact types, so that small differences between what they
	// predict and what comes are theirs to have.
	Legacy bool
}

// ApplyRequest asks for what a plan predicted.
type ApplyRequest struct {
	Type                   string
	Prior, Planned, Config cty.Value
	Private                []byte
}

// Fault is an error of a provider's.
type Fault struct {
	Summary, Detail string

	// Transient is for what may be gone the next time: the retry policy tries again.
	Transient bool

	// Code is the HTTP status that the provider got, 0 if there was none; After what Retry-After said, in
	// seconds.
	Code, After int
}

func (f *Fault) Error() string {
	if f.Detail == "" || f.Detail == f.Summary {
		return f.Summary
	}
	return f.Summary + ": " + f.Detail
}
