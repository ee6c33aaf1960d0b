package readmap

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/holdfast/holdfast/state"
)

const (
	// minPacked is the smallest body that is compressed, in bytes. A reader gains nothing
	// worth having from less.
	minPacked = 64 << 10
	// worthwhile is the most of its size that a body may keep, in percent. States that
	// their clients encrypted keep about 75.
	worthwhile = 80
)

// entry is a newest version, and what becomes of it. Store.mu guards bytes.
type entry struct {
	state.Snapshot
	bytes int64 // what it counts for

	packing sync.Once
	packed  []byte // nil when it is not worthwhile
}

// Packed implements state.Packer. A body is compressed when the first reader asks for it,
// once: those who ask meanwhile wait. 1 MB takes some 5 ms.
func (s *Store) Packed(ref state.Ref, of state.Snapshot) []byte {
	e, hit := s.find(ref)
	if !hit || len(e.Body) < minPacked || e.Number != of.Number || e.Digest != of.Digest {
		return nil
	}
	e.packing.Do(func() {
		e.packed = pack(e.Body)
		s.grow(ref, e)
	})
	return e.packed
}

func (s *Store) find(ref state.Ref) (*entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent.get(ref)
}

// grow counts what was packed, if the entry is still there.
func (s *Store) grow(ref state.Ref, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.grow(ref, e, int64(cap(e.packed)))
}

func pack(body []byte) []byte {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // fails for a wrong level only
	_, _ = writer.Write(body)                                 // a buffer takes everything
	_ = writer.Close()
	if packed.Len() > len(body)/100*worthwhile {
		return nil
	}
	return bytes.Clone(packed.Bytes())
}
