package state

import "github.com/holdfast/holdfast/auth"

// Packer is a Store that keeps bodies compressed too, for readers who take them so.
type Packer interface {
	// Packed returns the bytes of a snapshot that Current returned for ref, in gzip, or nil
	// where that is not at hand, or not worthwhile. Nobody may change them.
	Packed(ref Ref, of Snapshot) []byte
}

// Packed returns what Get or Version has just returned to this caller in gzip, or nil where
// the store does not have it so.
func (s *Service) Packed(p auth.Principal, name Name, of Snapshot) []byte {
	packer, ok := s.store.(Packer)
	if !ok {
		return nil
	}
	return packer.Packed(Ref{Org: p.Org, Name: name}, of)
}
