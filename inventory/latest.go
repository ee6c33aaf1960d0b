package inventory

import (
	"crypto/sha256"
	"iter"

	"github.com/holdfast/holdfast/fault"
)

// identity stands for a provider, category, type and name. Half of a SHA-256 is enough
// that no two of them meet, by chance or on purpose.
type identity [16]byte

func identify(r Resource, buf []byte) (identity, []byte) {
	buf = buf[:0]
	for _, text := range [...]string{r.Provider, r.Category, r.ResourceType, r.ResourceName} {
		buf = append(buf, text...)
		buf = append(buf, 0) // which none of them contains
	}
	sum := sha256.Sum256(buf)
	return identity(sum[:16]), buf
}

// newest passes on the first record of each identity. It remembers at most limit of them;
// one more is fault.QueryTooWide.
func newest(records iter.Seq2[Positioned, error], limit int) iter.Seq2[Positioned, error] {
	return func(yield func(Positioned, error) bool) {
		seen := map[identity]struct{}{}
		var buf []byte
		for record, err := range records {
			if err != nil {
				yield(Positioned{}, err)
				return
			}
			var id identity
			id, buf = identify(record.Resource, buf)
			if _, known := seen[id]; known {
				continue
			}
			if len(seen) == limit {
				yield(Positioned{}, fault.New(fault.QueryTooWide, "more than %d different resources match; narrow the query with filters", limit))
				return
			}
			seen[id] = struct{}{}
			if !yield(record, nil) {
				return
			}
		}
	}
}
