package audit

import "fmt"

// Damage is what can be wrong with a chain.
type Damage string

// The damages.
const (
	Missing Damage = "missing" // entries are gone
	Changed Damage = "changed" // an entry, or its hash, is not as it was
	Moved   Damage = "moved"   // an entry is not where it was
	Added   Damage = "added"   // an entry is in no chain
	// Begins is a log that begins elsewhere than its last removal says.
	Begins   Damage = "checkpoint"
	HeadLost Damage = "head_lost" // an entry that was kept elsewhere is not in the chain
)

// Break is a place where a chain doesn't hold.
type Break struct {
	Sequence uint64 // of the first entry that shows it
	Damage   Damage
	Says     string
}

// mostBreaks is how many breaks a walk tells of: one wrong place makes all that follow wrong.
const mostBreaks = 20

// Walk goes along the entries of one organization's chain, in the order of their sequences, and finds
// where it doesn't hold. Behind a break it goes on from what it found there.
type Walk struct {
	chain  Chain
	kept   Mark // zero for none
	at     Mark
	place  uint64
	seen   bool // the kept entry
	breaks []Break
}

// NewWalk returns a walk from the beginning of a chain, or from where retention has left it, on which an entry should
// be that somebody has kept; the zero Mark is none. Of one that was removed since, nothing can be told any more.
func NewWalk(chain Chain, kept Mark) *Walk {
	removed := chain.Removed
	w := &Walk{chain: chain, kept: kept, at: removed.Mark, place: removed.Place, seen: kept.Sequence <= removed.Sequence}
	if kept.Sequence > 0 && kept.Sequence == removed.Sequence && kept.Hash != removed.Hash {
		w.lost(kept.Sequence)
	}
	return w
}

// Resume has the walk go on behind an entry up to which another one came. The links begin with it as the
// log has it by now; false says that it is not what it was.
func (w *Walk) Resume(from Mark, links []Link) bool {
	w.breaks = nil // of the beginning
	if len(links) == 0 || links[0].mark() != from {
		w.fault(from.Sequence, Changed, "entry %d is not any more what it was when the check came to it", from.Sequence)
		return false
	}
	w.at, w.place, w.seen = from, links[0].Place, w.kept.Sequence <= from.Sequence
	return true
}

// Anew reports whether the walk has to begin again, because retention has removed the entry to go on behind since.
func (w *Walk) Anew(from Mark) bool { return from.Sequence <= w.chain.Removed.Sequence }

// mark is the entry as the walk has it: what is in no chain has no hash, whatever is beside it.
func (l Link) mark() Mark {
	if l.Place == 0 {
		return Mark{Sequence: l.Sequence}
	}
	return Mark{l.Sequence, l.Hash}
}

// Step takes the next entry.
func (w *Walk) Step(l Link) {
	if !w.seen && w.kept.Sequence > 0 && l.Sequence >= w.kept.Sequence {
		w.keeps(l)
	}
	if w.place == 0 && (w.chain.Place == 0 || l.Sequence < w.chain.First) {
		w.before(l)
		return
	}
	switch {
	case l.Place == 0:
		w.fault(l.Sequence, Added, "entry %d is in no chain, and yet behind the chain's beginning", l.Sequence)
		return
	case l.Place <= w.place:
		w.fault(l.Sequence, Moved, "entry %d was the chain's %d., and stands behind its %d.", l.Sequence, l.Place, w.place)
		return
	case l.Place > w.place+1:
		w.fault(l.Sequence, Missing, "%d of the chain's entries, from its %d. on, are not where they were, before entry %d",
			l.Place-w.place-1, w.place+1, l.Sequence)
	case l.Hash != hashed(w.chain.Seed, w.at.Hash, l.Place, l.Event):
		if w.place == 0 {
			w.fault(l.Sequence, Changed, "entry %d, the chain's first, was changed, or the chain's seed", l.Sequence)
			break
		}
		w.fault(l.Sequence, Changed, "entry %d, or entry %d before it, was changed", l.Sequence, w.at.Sequence)
	}
	w.at, w.place = Mark{l.Sequence, l.Hash}, l.Place
}

// before takes an entry before the chain's first. The next one's hash stands on none.
func (w *Walk) before(l Link) {
	w.at = Mark{Sequence: l.Sequence}
	if l.Place > 0 {
		w.fault(l.Sequence, Missing, "entry %d is in a chain whose head is not in the store any more", l.Sequence)
		return
	}
	w.fault(l.Sequence, Added, "entry %d is in no chain", l.Sequence)
}

// keeps compares the entry that was kept elsewhere with the first at its place.
func (w *Walk) keeps(l Link) {
	w.seen = true
	switch {
	case l.Sequence > w.kept.Sequence:
		w.fault(w.kept.Sequence, HeadLost, "entry %d, which was kept elsewhere, is missing", w.kept.Sequence)
	case l.Hash != w.kept.Hash:
		w.lost(l.Sequence)
	}
}

func (w *Walk) lost(sequence uint64) {
	w.fault(sequence, HeadLost, "entry %d has another hash than the one that was kept elsewhere", sequence)
}

// Began compares where the log begins with what the newest removal says, nil without any.
func (w *Walk) Began(removal *Event) {
	removed := w.chain.Removed
	switch {
	case removal == nil && removed != Checkpoint{}:
		w.fault(removed.Sequence, Begins, "the log begins behind entry %d, and no entry says that those before were removed",
			removed.Sequence)
	case removal != nil && removal.Note != removed.String():
		w.fault(removal.Sequence, Begins, "the log begins elsewhere than entry %d says, which removed those before: %s",
			removal.Sequence, removal.Note)
	}
}

// End says that there are no more entries up to the chain's head.
func (w *Walk) End() {
	if head := w.chain.Head; w.chain.Place > 0 && (w.at != head || w.place != w.chain.Place) {
		w.fault(head.Sequence, Missing, "the chain has come to entry %d, its %d., and the log ends with entry %d, its %d.",
			head.Sequence, w.chain.Place, w.at.Sequence, w.place)
	}
	if !w.seen && w.kept.Sequence > 0 {
		w.fault(w.kept.Sequence, HeadLost, "the chain ends with entry %d, before entry %d, which was kept elsewhere",
			w.chain.Head.Sequence, w.kept.Sequence)
	}
}

// At is the entry that the walk has come to, by which it can be resumed.
func (w *Walk) At() Mark { return w.at }

// Breaks are what was found so far.
func (w *Walk) Breaks() []Break { return w.breaks }

func (w *Walk) fault(at uint64, damage Damage, says string, args ...any) {
	if len(w.breaks) == mostBreaks {
		return
	}
	w.breaks = append(w.breaks, Break{at, damage, fmt.Sprintf(says, args...)})
}
