package resources

import "github.com/holdfast/holdfast/inventory"

const (
	// uploadsPiece is how many resources go into the index at once.
	uploadsPiece = 250
	// uploadsSpan is how many records are read for them at most, so that what was read is
	// not read again after an error.
	uploadsSpan = 25_000
)

// gathered is the newest record of each address among those that were read. Providers
// report the same resources over and over, and to put one into the index costs a hundred
// times what reading it does: 16 of them that reported 100 resources each kept a core busy.
type gathered struct {
	newest map[string]inventory.Record
	read   int
}

func newGathered() *gathered { return &gathered{newest: map[string]inventory.Record{}} }

func (g *gathered) add(r inventory.Record) {
	g.newest[addressOf(r.Resource)] = r
	g.read++
}

// full reports whether it is time to put them into the index.
func (g *gathered) full() bool { return len(g.newest) >= uploadsPiece || g.read >= uploadsSpan }

// resources returns them as resources, and begins anew.
func (g *gathered) resources(rules *Rules) []Resource {
	all := make([]Resource, 0, len(g.newest))
	for _, r := range g.newest {
		all = append(all, rules.ofRecord(r))
	}
	clear(g.newest)
	g.read = 0
	return all
}
