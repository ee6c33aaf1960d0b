// Package copies compares the copies of auth.cfg that nodes have in force.
package copies

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Copy is what one node has in force.
type Copy struct {
	Node     string    // of this process alone
	Name     string    // for people: the machine, and where it listens
	Revision uint64    // in the database; 0 for a file
	Digest   string    // SHA-256 of the text
	At       time.Time // when the text was written: a revision by the database's clock, a file by its own time
	// Shredded says which organizations the text orders to destroy and the node has destroyed: an
	// Order for each, separated by blanks.
	Shredded string
	// Unproven says that nobody knows whether it was the node that said this: the board can be written by
	// others, and what they write counts for nothing.
	Unproven bool
	// Silent is for how long the node has not been heard of, by the board's clock.
	Silent time.Duration
}

const (
	// interval is how often a node says what it has.
	interval = 2 * time.Second
	// Gone is after how much silence a node counts as one that does not run any more, or is cut off: nobody
	// waits for it.
	Gone = Unconfirmed + 2*interval
	// Unconfirmed is for how long a node goes on with the keys that it has while it can't ask the database
	// whether they are the newest. It is shorter than Gone: who counts as gone lets nobody in any more.
	Unconfirmed = 10 * time.Second
	// Forgotten is after how much silence nobody is told of such a node any more.
	Forgotten = time.Hour
	// patience bounds each call of the board.
	patience = 5 * time.Second
)

// Board is where nodes say what they have.
type Board interface {
	// Post says it of one node, in the place of what it said before, and drops nodes that are
	// forgotten. It waits for no other node.
	Post(ctx context.Context, c Copy) error
	// Copies returns what all say that are not forgotten, also those that are gone.
	Copies(ctx context.Context) ([]Copy, error)
	// Withdraw forgets a node that stops.
	Withdraw(ctx context.Context, node string) error
}

// older says in words that own is older than another node's copy; empty if it is not. It names no
// node: whoever asks for a probe reads it.
func older(own Copy, all []Copy) string {
	newest := own
	for _, c := range Running(all) {
		if c.Node != own.Node && !c.Unproven && c.Digest != own.Digest && c.newer(newest) {
			newest = c
		}
	}
	if newest.Node == own.Node {
		return ""
	}
	by := newest.At.Sub(own.At).Round(time.Second)
	if newest.Revision > 0 && own.Revision > 0 {
		return fmt.Sprintf("revision %d of auth.cfg is in force here, %d on another node; it was written %v later",
			own.Revision, newest.Revision, by)
	}
	return fmt.Sprintf("the auth.cfg in force here was written %v before another node's", by)
}

// Running are those that have been heard of lately.
func Running(all []Copy) []Copy {
	return slices.DeleteFunc(slices.Clone(all), func(c Copy) bool { return c.Silent > Gone })
}

// Order is how Copy.Shredded names what was ordered about an organization, and when.
func Order(org uuid.UUID, at time.Time) string {
	return org.String() + "@" + at.UTC().Format(time.RFC3339Nano)
}

// Shredded reports whether all nodes that run have carried an order out. When none runs nobody
// knows: one may have been stopped in the middle.
func Shredded(all []Copy, order string) bool {
	all = Running(all)
	missing := func(c Copy) bool { return c.Unproven || !slices.Contains(strings.Fields(c.Shredded), order) }
	return len(all) > 0 && !slices.ContainsFunc(all, missing)
}

// newer compares revisions where both have one, times else: then files are mounted, or one node
// has a file and another one the database.
func (c Copy) newer(than Copy) bool {
	if c.Revision > 0 && than.Revision > 0 {
		return c.Revision > than.Revision
	}
	return c.At.After(than.At)
}
