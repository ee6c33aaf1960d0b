package state

import "github.com/holdfast/holdfast/auth"

// Packer is a Store that keeps bodies compressed too, for readers who take them so.
type Packer interface {
	// Packed returns the bytes of a snapshot that Current returned for ref, in gzip, or nil
	// where that is not at hand, or not worthwhile. Nobody may change them.
	Packed(ref Ref, of Snapshot) []byte
}

// Pack puts gzip in the place of the bytes of what Get or Version has just returned to this
// caller, and reports whether it did: not where the store does not have them so.
func (s *Service) Pack(p auth.Principal, name Name, l *Loaded) bool {
	packer, ok := s.store.(Packer)
	if !ok {
		return false
	}
	packed := packer.Packed(Ref{Org: p.Org, Name: name}, l.Snapshot)
	if packed == nil {
		return false
	}
	l.Body = packed
	l.hold.Keep(int64(len(packed)))
	return true
}
