package dual

import (
	"maps"

	"github.com/holdfast/holdfast/internal/vitals"
)

// Databases implements vitals.Databases: those of its sides, and the outbox.
func (s *Store) Databases() map[string]vitals.Database {
	all := map[string]vitals.Database{"outbox": s.outbox.writer.Vitals()}
	for _, d := range s.sides {
		if below, ok := d.store.(vitals.Databases); ok {
			maps.Copy(all, below.Databases())
		}
	}
	return all
}
