package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/google/uuid"
)

// treeDepth is how many bits an organization's ID has: each is a step from the tree's root to its leaf.
const treeDepth = 8 * len(uuid.UUID{})

// tree gives each organization a secret of its own, all of which come from one: from the root on, each step to the
// left or the right is an HMAC, so that who has a branch has all below it and nothing else. It can forget an
// organization: what is left are the branches beside the path to its leaf. This is the pseudorandom function of
// Goldreich, Goldwasser and Micali (1986), and what can be punctured about it was seen by Boneh and Waters (2013).
type tree []branch // in the order of their places, and none of them below another

// branch is what a part of the tree comes from.
type branch struct {
	depth  int       // how many steps it is from the root
	place  uuid.UUID // these steps, and zeros
	secret [keySize]byte
}

func newTree(root [keySize]byte) tree { return tree{{secret: root}} }

// above reports whether the organization's leaf is below this branch.
func (b branch) above(org uuid.UUID) bool { return prefixOf(org, b.depth) == b.place }

// step returns the branch below, to the left for 0 and to the right for 1.
func (b branch) step(to byte) branch {
	mac := hmac.New(sha256.New, b.secret[:])
	_, _ = mac.Write([]byte{to})
	below := branch{depth: b.depth + 1, place: b.place, secret: [keySize]byte(mac.Sum(nil))}
	below.place[b.depth/8] |= to << (7 - b.depth%8)
	return below
}

// find returns where the branch above an organization is; false for one that was forgotten.
func (t tree) find(org uuid.UUID) (int, bool) {
	i, exact := slices.BinarySearchFunc(t, org, func(b branch, org uuid.UUID) int {
		return bytes.Compare(b.place[:], org[:])
	})
	if !exact {
		i-- // the last one that is not behind it
	}
	return i, i >= 0 && t[i].above(org)
}

// leaf returns an organization's secret; false for one that was forgotten.
func (t tree) leaf(org uuid.UUID) (secret [keySize]byte, known bool) {
	i, known := t.find(org)
	if !known {
		return secret, false
	}
	at := t[i]
	for at.depth < treeDepth {
		at = at.step(stepAt(org, at.depth))
	}
	return at.secret, true
}

// without returns the tree that has forgotten an organization, and no other. It is the tree itself if it has already.
func (t tree) without(org uuid.UUID) tree {
	i, known := t.find(org)
	if !known {
		return t
	}
	var before, behind []branch
	for at := t[i]; at.depth < treeDepth; {
		to := stepAt(org, at.depth)
		if beside := at.step(1 - to); to == 1 {
			before = append(before, beside)
		} else {
			behind = append(behind, beside)
		}
		at = at.step(to)
	}
	slices.Reverse(behind) // the deepest is the next one
	return slices.Concat(t[:i], before, behind, t[i+1:])
}

// stepAt returns which way an organization's leaf is from a branch of this depth.
func stepAt(org uuid.UUID, depth int) byte { return org[depth/8] >> (7 - depth%8) & 1 }

// prefixOf returns the first steps to an organization's leaf, and zeros.
func prefixOf(org uuid.UUID, depth int) uuid.UUID {
	for i := range org {
		switch kept := depth - 8*i; {
		case kept <= 0:
			org[i] = 0
		case kept < 8:
			org[i] &= 0xff << (8 - kept)
		}
	}
	return org
}

// branchSize is how long a branch is in a file.
const branchSize = 1 + len(uuid.UUID{}) + keySize

// bytes returns the tree as it is kept.
func (t tree) bytes() []byte {
	out := make([]byte, 0, len(t)*branchSize)
	for _, b := range t {
		out = append(append(append(out, byte(b.depth)), b.place[:]...), b.secret[:]...)
	}
	return out
}

// readTree reads what bytes returned.
func readTree(kept []byte) (t tree, err error) {
	for one := range slices.Chunk(kept, branchSize) {
		if len(one) < branchSize {
			return nil, errors.New("its branches are cut off")
		}
		b := branch{depth: int(one[0]), place: uuid.UUID(one[1 : 1+len(uuid.UUID{})]), secret: [keySize]byte(one[17:])}
		if b.depth > treeDepth || prefixOf(b.place, b.depth) != b.place ||
			len(t) > 0 && bytes.Compare(t[len(t)-1].place[:], b.place[:]) >= 0 {
			return nil, errors.New("its branches are not in their order")
		}
		t = append(t, b)
	}
	return t, nil
}
