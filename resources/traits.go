package resources

import "crypto/sha256"

// Mark stands for a text in the index. Half of a SHA-256 is enough that no two of them
// meet, by chance or on purpose.
type Mark [16]byte

// MarkOf returns the mark of parts in this order.
func MarkOf(parts ...string) Mark {
	var text []byte
	for _, part := range parts {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return Mark(sum[:16])
}

// Traits say which resources are the same real object.
type Traits struct {
	// Counts says that the resource is one that coverage is about: no data source, no
	// deposed object.
	Counts bool
	// Identities are of what no two objects of a type have: two resources that share one
	// are the same object.
	Identities []Mark
	// Everywhere are of what tells an object among all types. An upload and a resource of a
	// state that share one are the same object; two resources of states need not be, since
	// the settings of an object may show its ARN too.
	Everywhere []Mark
	// Hints are of what other objects may have too: an upload and a resource of a state
	// that share one, or of which one has as an identity what the other has as a hint, are
	// the same object only where no third one shares it.
	Hints []Mark
	// Lanes are the types and attributes that all these are of, but for names: what shares
	// none with any upload can't be missing from uploads, and an upload without any can't
	// be unmanaged.
	Lanes []Mark
}
