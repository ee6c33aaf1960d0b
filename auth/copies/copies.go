// Package copies compares the copies of auth.cfg that nodes have in force.
package copies

import (
	"context"
	"fmt"
	"time"
)

// Copy is what one node has in force.
type Copy struct {
	Node     string    // of this process alone
	Name     string    // for people: the machine, and where it listens
	Revision uint64    // in the database; 0 for a file
	Digest   string    // SHA-256 of the text
	At       time.Time // when the text was written: a revision by the database's clock, a file by its own time
	// Silent is for how long the node has not been heard of, by the board's clock.
	Silent time.Duration
}

const (
	// interval is how often a node says what it has.
	interval = 2 * time.Second
	// Gone is after how much silence a node counts as one that does not run any more.
	Gone = 5 * interval
	// patience bounds each call of the board.
	patience = 5 * time.Second
)

// Board is where nodes say what they have.
type Board interface {
	// Post says it of one node, in the place of what it said before, and forgets nodes that
	// are gone.
	Post(ctx context.Context, c Copy) error
	// Copies returns what all say that are not gone.
	Copies(ctx context.Context) ([]Copy, error)
	// Withdraw forgets a node that stops.
	Withdraw(ctx context.Context, node string) error
}

// older says in words that own is older than another node's copy; empty if it is not. It names no
// node: whoever asks for a probe reads it.
func older(own Copy, all []Copy) string {
	newest := own
	for _, c := range all {
		if c.Node != own.Node && c.Digest != own.Digest && c.newer(newest) {
			newest = c
		}
	}
	if newest.Node == own.Node {
		return ""
	}
	by := newest.At.Sub(own.At).Round(time.Second)
	if newest.Revision > 0 && own.Revision > 0 {
		return fmt.Sprintf("revision %d of auth.cfg is in force here, %d on another node; it was written %v later", own.Revision, newest.Revision, by)
	}
	return fmt.Sprintf("the auth.cfg in force here was written %v before another node's", by)
}

// newer compares revisions where both have one, times else: then files are mounted, or one node
// has a file and another one the database.
func (c Copy) newer(than Copy) bool {
	if c.Revision > 0 && than.Revision > 0 {
		return c.Revision > than.Revision
	}
	return c.At.After(than.At)
}
