package dual

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestLetterIsNewest goes on behind a dead letter that is the newest on the side that has it,
// though that side is away at the start and the clock was put back.
func TestLetterIsNewest(t *testing.T) {
	now := &clock{now: time.Now()}
	r := newRig(t, func(o *Options) { o.Now = now.Now })
	org := uuid.New()
	r.csv.refusing(tooLarge("b"))
	r.mustAppend(newBatch(org, "a", 1))
	now.advance(time.Hour)
	letter := r.mustAppend(newBatch(org, "b", 1))
	r.settled()
	now.advance(-30 * time.Minute)
	r.mysql.set(fails)
	r.reopen()
	if at := r.mustAppend(newBatch(org, "c", 1)).At; !at.After(letter.At) {
		t.Errorf("recorded at %v, and a side has a record of %v", at, letter.At)
	}
	r.heal()
	if n := len(r.letters()); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}
