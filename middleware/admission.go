package middleware

import (
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

// admission is what one request has acquired from a Guard.
type admission struct {
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

// admissionOf returns the request's admission. A route without a guard in its chain panics at
// its first request, and so in tests.
func admissionOf(c *gin.Context) *admission {
	if p := infoOf(c).admission; p != nil {
		return p
	}
	panic("no guard stands before this route")
}

// BeforeBody has the request refused by what check returns, once it is its turn and before anything of its body is
// looked at: the caller's rights don't depend on that.
func BeforeBody(check func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) { infoOf(c).first = func() error { return check(c) } }
}

func (r *requestInfo) beforeBody() error {
	if r.first == nil {
		return nil
	}
	return r.first()
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
	p := admissionOf(c)
	if err := infoOf(c).beforeBody(); err != nil {
		return nil, err
	}
	if limit > 0 {
		if _, err := p.readBody(c, limit); err != nil {
			return nil, err
		}
		if err := verifyAgain(c); err != nil {
			return nil, err
		}
	}
	if !p.acquire(c, p.guard.slots, &p.slots, 1, InFlight) {
		return nil, p.guard.slots.Refuse()
	}
	return p.body, nil
}

// acquire takes n from the budget, as a lock holder only when there is nothing left otherwise.
// It is added to taken.
func (a *admission) acquire(c *gin.Context, from *budget.Budget, taken *[2]int64, n int64, r Reason) bool {
	if from.TryAcquire(budget.Share{Org: a.org}, n) {
		taken[0] += n
		return true
	}
	if !a.isHolder(c) || !from.TryAcquire(budget.Share{Org: a.org, Holder: true}, n) {
		return false
	}
	a.guard.spared[r].Add(1)
	taken[1] += n
	return true
}

// spared reports whether the request passes all the same, because it holds a lock.
func (a *admission) spared(c *gin.Context, r Reason) bool {
	if !a.isHolder(c) {
		return false
	}
	a.guard.spared[r].Add(1)
	return true
}

// isHolder asks once in a request: a later answer would not be worth more. If the lock is
// released meanwhile, the store refuses the write.
func (a *admission) isHolder(c *gin.Context) bool {
	if a.claim == nil || a.asked {
		return a.holder
	}
	a.asked = true
	isHeld := a.claim(c)
	if isHeld == nil {
		return false
	}
	// Who sends a flood of wrong IDs waits for itself, and keeps no more than one of the
	// store's readers busy.
	if release, err := a.guard.asking.Acquire(c.Request.Context(), a.org); err == nil {
		defer release()
		a.holder = isHeld()
	}
	return a.holder
}

// refuse counts a refusal.
func (a *admission) refuse(r Reason, f *fault.Error) error {
	a.guard.refused[r].Add(1)
	return f
}

// end gives everything back. The router keeps a request's context for the next one, and
// with it the admission, which must not keep the body.
func (a *admission) end() {
	a.body = nil
	for i, s := range a.shares() {
		a.guard.begun.Release(s, a.begun[i])
		a.guard.slots.Release(s, a.slots[i])
		a.guard.bytes.Release(s, a.bytes[i])
	}
}

// shares are what it takes as anybody, and as a lock holder.
func (a *admission) shares() [2]budget.Share {
	return [2]budget.Share{{Org: a.org}, {Org: a.org, Holder: true}}
}

// Leave gives the place for a request in flight back, for one that goes on to wait, or to send
// what it has piece by piece: it may take hours, and a place is for those who are worked on. The
// request still counts as begun.
func Leave(c *gin.Context) {
	a := admissionOf(c)
	for i, s := range a.shares() {
		a.guard.slots.Release(s, a.slots[i])
		a.slots[i] = 0
	}
}

// Beside acquires n bytes of memory for what is made of the body, until the request ends. It
// does not wait, as the request has its body already. Its fault: Overloaded.
func Beside(c *gin.Context, n int64) error {
	a := admissionOf(c)
	if !a.acquire(c, a.guard.bytes, &a.bytes, n, Bytes) {
		return a.guard.bytes.Refuse()
	}
	return nil
}
