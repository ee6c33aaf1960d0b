package middleware

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

// passage is one request's way past a Guard, and what it has taken there.
type passage struct {
	guard *Guard
	org   uuid.UUID
	claim Claim // nil where no lock counts

	asked, holder bool     // what the claim was worth, once it was asked
	slots, bytes  [2]int64 // taken as anybody, and as a lock holder
	begun         [2]int64 // likewise

	read    bool // the body was, or is being read
	body    []byte
	bodyErr error
}

// passageOf returns the request's passage. A route without a guard in its chain panics at
// its first request, and so in tests.
func passageOf(c *gin.Context) *passage {
	if p := recordOf(c).passage; p != nil {
		return p
	}
	panic("no guard stands before this route")
}

// Admit lets a request in: it reads the body, of at most limit bytes, and then takes one of
// the places for requests in flight. So who sends slowly takes up no place. A limit of 0
// reads nothing.
func Admit(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if _, err := AdmitBody(c, limit); err != nil {
			Fail(c, err)
		}
	}
}

// AdmitBody is Admit for who wants the body at once. Whoever sent it must still be let in
// when all of it is there. Faults: BodyTooLarge, BodyTooSlow, BodyUnreadable,
// DigestMismatch, Overloaded, and those of verify.Verifier.VerifyAgain.
func AdmitBody(c *gin.Context, limit int64) ([]byte, error) {
	p := passageOf(c)
	if limit > 0 {
		if _, err := p.readBody(c, limit); err != nil {
			return nil, err
		}
		if err := verifyAgain(c); err != nil {
			return nil, err
		}
	}
	if !p.take(c, p.guard.slots, &p.slots, 1, InFlight) {
		return nil, p.guard.slots.Refuse()
	}
	return p.body, nil
}

// take takes n from the budget, as a lock holder only when there is nothing left otherwise.
// What was taken stands in taken.
func (p *passage) take(c *gin.Context, from *budget.Budget, taken *[2]int64, n int64, r Reason) bool {
	if from.TryAcquire(budget.Share{Org: p.org}, n) {
		taken[0] += n
		return true
	}
	if !p.isHolder(c) || !from.TryAcquire(budget.Share{Org: p.org, Holder: true}, n) {
		return false
	}
	p.guard.spared[r].Add(1)
	taken[1] += n
	return true
}

// spared reports whether the request passes all the same, because it holds a lock.
func (p *passage) spared(c *gin.Context, r Reason) bool {
	if !p.isHolder(c) {
		return false
	}
	p.guard.spared[r].Add(1)
	return true
}

// isHolder asks once in a request: a later answer would not be worth more. If the lock is
// released meanwhile, the store refuses the write.
func (p *passage) isHolder(c *gin.Context) bool {
	if p.claim == nil || p.asked {
		return p.holder
	}
	p.asked = true
	isHeld := p.claim(c)
	if isHeld == nil {
		return false
	}
	// Who sends a flood of wrong IDs waits for itself, and keeps no more than one of the
	// store's readers busy.
	if release, err := p.guard.asking.Acquire(c.Request.Context(), p.org); err == nil {
		defer release()
		p.holder = isHeld()
	}
	return p.holder
}

// refuse counts a refusal.
func (p *passage) refuse(r Reason, f *fault.Error) error {
	p.guard.refused[r].Add(1)
	return f
}

// end gives everything back. The router keeps a request's context for the next one, and
// with it the passage, which must not keep the body.
func (p *passage) end() {
	p.body = nil
	for i, s := range p.shares() {
		p.guard.begun.Release(s, p.begun[i])
		p.guard.slots.Release(s, p.slots[i])
		p.guard.bytes.Release(s, p.bytes[i])
	}
}

// shares are what it takes as anybody, and as a lock holder.
func (p *passage) shares() [2]budget.Share {
	return [2]budget.Share{{Org: p.org}, {Org: p.org, Holder: true}}
}
