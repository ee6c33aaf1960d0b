package live

import (
	"fmt"
	"strconv"
	"strings"
)

// Position is how far a reader has come: in the audit log, and in the order in which runs changed.
type Position struct {
	Log  uint64
	Runs int64
}

// String is what ParsePosition reads.
func (p Position) String() string { return fmt.Sprintf("%d-%d", p.Log, p.Runs) }

// ParsePosition reads the ID of an event.
func ParsePosition(text string) (p Position, ok bool) {
	log, runs, ok := strings.Cut(text, "-")
	if !ok {
		return Position{}, false
	}
	n, err := strconv.ParseUint(log, 10, 63)
	m, err2 := strconv.ParseUint(runs, 10, 63)
	return Position{n, int64(m)}, err == nil && err2 == nil
}

// covers reports whether nothing that comes behind other comes before p.
func (p Position) covers(other Position) bool { return other.Log >= p.Log && other.Runs >= p.Runs }

// before reports whether an event is new to who has come so far.
func (p Position) before(e Event) bool {
	if e.ofRun {
		return e.number > uint64(p.Runs)
	}
	return e.number > p.Log
}

// after is how far somebody is who has this event too.
func (p Position) after(e Event) Position {
	if !p.before(e) {
		return p
	}
	if e.ofRun {
		p.Runs = int64(e.number)
	} else {
		p.Log = e.number
	}
	return p
}
