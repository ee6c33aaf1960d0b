package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Hash is the SHA-256 of an entry of the log and of all that came before it in its organization.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Mark names one entry of a chain, by its sequence and its hash: who keeps one elsewhere can tell later
// that nothing up to it was changed.
type Mark struct {
	Sequence uint64
	Hash     Hash
}

// String is SEQUENCE:HASH, which ParseMark reads.
func (m Mark) String() string { return strconv.FormatUint(m.Sequence, 10) + ":" + m.Hash.String() }

// ParseMark reads what String has written.
func ParseMark(text string) (m Mark, err error) {
	number, digits, found := strings.Cut(text, ":")
	hash, bad := hex.DecodeString(digits)
	m.Sequence, err = strconv.ParseUint(number, 10, 63)
	if !found || err != nil || bad != nil || len(hash) != len(m.Hash) || m.Sequence == 0 {
		return Mark{}, fmt.Errorf("%.80q is no SEQUENCE:HASH, such as 17:%s", text, strings.Repeat("0f", sha256.Size))
	}
	copy(m.Hash[:], hash)
	return m, nil
}

// Chain is how far an organization's chain has come. The zero Chain has no entries.
type Chain struct {
	// Seed is in the hash of each entry. It is random and goes with the organization: what is left of
	// a shredded one are hashes that nobody can try texts against.
	Seed Hash
	// First is the sequence of the first entry.
	First uint64
	// Place is that of the newest entry, counted from 1.
	Place uint64
	Head  Mark
	// Removed is the last entry that retention has removed: those behind it are there.
	Removed Checkpoint
}

// Begun returns the chain, with a seed if it has no entry yet.
func (c Chain) Begun() Chain {
	if c.Place == 0 {
		c = Chain{}
		_, _ = rand.Read(c.Seed[:]) // which never fails
	}
	return c
}

// Next returns the chain with an entry more. The event is as it is stored: with its sequence, and the
// time in microseconds.
func (c Chain) Next(e Event) Chain {
	if c.Place == 0 {
		c.First = e.Sequence
	}
	c.Place++
	c.Head = Mark{e.Sequence, hashed(c.Seed, c.Head.Hash, c.Place, e)}
	return c
}

// Link is an entry as the log has it, with what was kept of the chain beside it.
type Link struct {
	Event
	// Place is the entry's in its organization's chain; 0 for one that is in none.
	Place uint64
	Hash  Hash
}

// domain keeps the hash from being that of anything else.
const domain = "holdfast audit 1\n"

// hashed returns the hash of an entry: of the seed, the hash before it, its place, and its canonical
// encoding. Numbers have eight bytes, the most significant first, and texts have their length before
// them, so that no two entries are encoded alike.
func hashed(seed, before Hash, place uint64, e Event) Hash {
	var room [768]byte // so that a usual entry takes nothing from the heap
	b := append(room[:0], domain...)
	b = append(append(b, seed[:]...), before[:]...)
	for _, number := range []uint64{place, e.Sequence, uint64(e.At.UnixMicro()), e.Version} {
		b = binary.BigEndian.AppendUint64(b, number)
	}
	b = append(b, e.Org[:]...)
	a := &e.Actor
	for _, text := range []string{string(e.Action), e.State, e.LockID, string(e.Refused), e.Reason, e.Note,
		a.KeyID, a.KeyName, a.Subject, string(a.Role), a.Address, a.Request} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(text))), text...)
	}
	return sha256.Sum256(b)
}
