package sqlitedb

import "github.com/holdfast/holdfast/internal/vitals"

func newTook() *vitals.Histogram {
	return vitals.NewHistogram(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5)
}

func newShared() *vitals.Histogram { return vitals.NewHistogram(1, 2, 4, 8, 16, 32, 64, 128, 256) }

// Vitals returns how the database is. A file whose size can't be found out has none.
func (w *Writer) Vitals() vitals.Database {
	bytes, _ := size(w.o.File.Path)
	wal, _ := w.o.File.WALSize()
	return vitals.Database{
		Bytes: bytes, WALBytes: wal, Waiting: w.Waiting(),
		Commits: w.took.Distribution(), Batches: w.shared.Distribution(), Failures: w.failures.Load(),
	}
}
