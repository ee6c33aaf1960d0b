package moving

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Extent is what a side has of a table: how many records, and the SHA-256 over all of them, bodies
// included, in the order of their keys.
type Extent struct {
	Table   string `json:"table"`
	Records int64  `json:"records"`
	SHA256  string `json:"sha256"`
}

// Measure reads all records of a side; without their bodies, it reads the marks of those.
func Measure(ctx context.Context, s Side, bodies bool, tell Progress) (all []Extent, err error) {
	how := marked
	if bodies {
		how = whole
	}
	for _, shape := range s.Shapes {
		e, h := Extent{Table: shape.Name}, sha256.New()
		untold := 0
		for row, err := range s.rows(ctx, shape, how) {
			if err != nil {
				return nil, err
			}
			row.addTo(h)
			e.Records++
			if untold++; untold == tellEvery {
				tell(shape.Name, untold, 0)
				untold = 0
			}
		}
		tell(shape.Name, untold, 0)
		e.SHA256 = hex.EncodeToString(h.Sum(nil))
		all = append(all, e)
	}
	return all, nil
}

// Compared is what both sides have of a table.
type Compared struct {
	Table          string
	Source, Target Extent
}

// Equal reports whether both have the same.
func (c Compared) Equal() bool { return c.Source == c.Target }

// Compare reads all records of both sides, at the same time.
func Compare(ctx context.Context, from, to Side, bodies bool, tell Progress) ([]Compared, error) {
	var target []Extent
	var targetErr error
	var reading sync.WaitGroup
	reading.Go(func() { target, targetErr = Measure(ctx, to, bodies, func(string, int, int) {}) })
	source, err := Measure(ctx, from, bodies, tell)
	reading.Wait()
	if err != nil || targetErr != nil {
		return nil, firstOf(err, targetErr)
	}
	all := make([]Compared, len(source))
	for i := range source {
		all[i] = Compared{source[i].Table, source[i], target[i]}
	}
	return all, nil
}
