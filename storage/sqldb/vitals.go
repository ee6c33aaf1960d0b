package sqldb

import "github.com/holdfast/holdfast/internal/vitals"

// Databases implements vitals.Databases. A server's database is not ours to watch.
func (db *DB) Databases() map[string]vitals.Database {
	if e, ok := db.engine.(*sqlite); ok && e.writer != nil {
		return map[string]vitals.Database{"runs": e.writer.Vitals()}
	}
	return nil
}
