package csv

import "github.com/holdfast/holdfast/internal/vitals"

// Databases implements vitals.Databases.
func (s *Store) Databases() map[string]vitals.Database {
	return map[string]vitals.Database{"uploads": s.index.Vitals()}
}
