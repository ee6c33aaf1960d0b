package seal

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
)

// near returns an ID that has its first n bits with another one, and not the next one.
func near(org uuid.UUID, n int) uuid.UUID {
	org[n/8] ^= 1 << (7 - n%8)
	return org
}

// TestTreeForgets: whoever is forgotten, in any order, the others keep their secrets to the bit, and those of the
// forgotten can't be had. The closest neighbours are among the others.
func TestTreeForgets(t *testing.T) {
	whole := newTree(newKey())
	orgs := []uuid.UUID{{}, uuid.Max, uuid.New(), uuid.New()}
	for n := range treeDepth {
		orgs = append(orgs, near(orgs[2], n))
	}
	secrets := map[uuid.UUID][keySize]byte{}
	for _, org := range orgs {
		secrets[org], _ = whole.leaf(org)
	}
	rand.Shuffle(len(orgs), func(i, j int) { orgs[i], orgs[j] = orgs[j], orgs[i] })
	now := whole
	for i, org := range orgs {
		before := slices.Clone(now)
		if i%2 == 0 {
			now = now.without(org)
		}
		if again := now.without(org); i%2 == 0 && !slices.Equal(again, now) {
			t.Fatal("it forgets twice")
		}
		for k, other := range orgs {
			got, known := now.leaf(other)
			if gone := k <= i && k%2 == 0; known == gone || !gone && got != secrets[other] {
				t.Fatalf("after %d were forgotten %v is known: %t; its secret is the same: %t", i/2+1, other, known,
					got == secrets[other])
			}
		}
		read, err := readTree(now.bytes())
		if err != nil || !slices.Equal(read, now) {
			t.Fatalf("it is read as another one, %v", err)
		}
		if i%2 == 0 && slices.Equal(before, now) {
			t.Fatal("it is as it was")
		}
	}
	if len(whole) != 1 || len(now) > len(orgs)/2*treeDepth {
		t.Errorf("%d branches, from %d", len(now), len(whole))
	}
}

// TestTreeKeepsNoSecretOfTheForgotten: no branch that is left is on the path to who was forgotten.
func TestTreeKeepsNoSecretOfTheForgotten(t *testing.T) {
	org := uuid.New()
	whole := newTree(newKey())
	kept := whole.without(near(org, 60)).without(org).bytes()
	for at := whole[0]; ; at = at.step(stepAt(org, at.depth)) {
		if bytes.Contains(kept, at.secret[:]) {
			t.Errorf("the secret %d steps from the root is still there", at.depth)
		}
		if at.depth == treeDepth {
			break
		}
	}
}

func TestTreeRefuses(t *testing.T) {
	good := newTree(newKey()).without(uuid.New()).bytes()
	turned := slices.Concat(good[branchSize:2*branchSize], good[:branchSize])
	deep, crooked := bytes.Clone(good[:branchSize]), bytes.Clone(good[:branchSize])
	deep[0], crooked[16] = byte(treeDepth+1), 1
	for what, kept := range map[string][]byte{"cut off": good[:len(good)-1], "turned": turned, "deep": deep,
		"crooked": crooked, "twice": slices.Concat(good[:branchSize], good[:branchSize])} {
		if _, err := readTree(kept); err == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
}
