package index

import "github.com/holdfast/holdfast/internal/vitals"

// Vitals returns how the index's database is.
func (x *Index) Vitals() vitals.Database { return x.writer.Vitals() }
