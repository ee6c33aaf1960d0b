package inventory

import (
	"context"
	"crypto/sha256"
	"iter"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
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

const (
	// identityBytes is what one identity takes in memory, with its part of the map.
	identityBytes = 40
	// firstIdentities is for how many there is memory from the beginning.
	firstIdentities = 1000

	// What is gathered in one turn: so many records at first and later, and bytes of their
	// attributes; and how many records are read for that.
	firstPiece = 100
	lastPiece  = 1000
	pieceBytes = 256 << 10
	turnLength = 10_000
)

// latest passes on the first record of each identity. It reads a piece at a time, each in a
// turn, and hands it on without one, because its reader may be slow.
type latest struct {
	hold  budget.Hold // of what it remembers
	most  int         // identities; one more is fault.QueryTooWide
	turn  func() (release func(), err error)
	yield func(Positioned, error) bool

	seen  map[identity]struct{}
	room  int // for how many identities there is memory
	piece []Positioned
	size  int // bytes of the piece
	limit int // records of the piece
	// beyond is what was acquired for a piece of more than pieceBytes.
	beyond int
	read   int // in this turn
	buf    []byte
}

func (l *latest) run(ctx context.Context, records iter.Seq2[Positioned, error]) {
	defer l.hold.Release()
	l.seen, l.room, l.limit = map[identity]struct{}{}, firstIdentities, firstPiece
	if err := l.hold.Acquire(ctx, firstIdentities*identityBytes+pieceBytes); err != nil {
		l.yield(Positioned{}, err)
		return
	}
	release, err := l.turn()
	if err != nil {
		l.yield(Positioned{}, err)
		return
	}
	defer func() { release() }() // whichever is the last
	for record, err := range records {
		if err == nil {
			err = l.add(record)
		}
		if err == nil && !l.full() {
			continue
		}
		release()
		if !l.handOn(err) {
			return
		}
		next, err := l.turn()
		if err != nil {
			l.yield(Positioned{}, err)
			return
		}
		release = next
	}
	release()
	l.handOn(nil)
}

func (l *latest) full() bool {
	return len(l.piece) >= l.limit || l.size >= pieceBytes || l.read >= turnLength
}

// add puts a record into the piece, if it is the first of its identity.
func (l *latest) add(record Positioned) error {
	var id identity
	l.read++
	id, l.buf = identify(record.Resource, l.buf)
	if _, known := l.seen[id]; known {
		return nil
	}
	if len(l.seen) == l.most {
		return fault.New(fault.QueryTooWide, "more than %d different resources match; narrow the query with filters", l.most)
	}
	if len(l.seen) == l.room {
		if err := l.hold.AcquireNow(int64(l.room) * identityBytes); err != nil {
			return err
		}
		l.room *= 2
	}
	size := l.size + len(record.Attributes)
	if lacks := size - pieceBytes - l.beyond; lacks > 0 { // because of a large record
		if err := l.hold.AcquireNow(int64(lacks)); err != nil {
			return err
		}
		l.beyond += lacks
	}
	l.seen[id] = struct{}{}
	l.piece, l.size = append(l.piece, record), size
	return nil
}

// handOn yields the piece, and then the error if there is one. It reports whether to go on.
func (l *latest) handOn(err error) bool {
	for i := range l.piece {
		if !l.yield(l.piece[i], nil) {
			return false
		}
	}
	clear(l.piece)
	l.piece, l.size, l.read, l.limit = l.piece[:0], 0, 0, lastPiece
	if err != nil {
		l.yield(Positioned{}, err)
	}
	return err == nil
}
