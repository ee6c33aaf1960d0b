package handlers

import (
	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/middleware"
)

// claimed reads the ID of the lock that a request says it holds: empty where there is none, or
// none that the handler would accept.
type claimed func(r *request) string

// claim is for who is refused otherwise: it finds the lock that a request says it holds.
// Nothing is sent by who holds a lock but an UNLOCK, a write, and the order to roll back or to
// promote.
func (s states) claim(o operation, read claimed) middleware.Claim {
	if read == nil {
		return nil
	}
	request := o.reads()
	return func(c *gin.Context) (isHeld func() bool) {
		r := request(c)
		name, err := s.stateName(r)
		if err != nil {
			return nil
		}
		id := read(r)
		if id == "" || r.err() != nil {
			return nil
		}
		return func() bool { return s.service.Holds(c.Request.Context(), r.caller, name, id) }
	}
}

// inQuery is where writes have it.
func inQuery(r *request) string {
	return r.lockID()
}

// inOrder is where rollbacks and promotions have it.
func inOrder(r *request) string {
	body, err := middleware.PeekBody(r.c, maxOrderBytes)
	if err != nil {
		return ""
	}
	o, err := orderIn(body)
	r.check(err)
	return o.LockID
}

// inUnlock is where UNLOCK has it.
func inUnlock(r *request) string {
	body, err := middleware.PeekBody(r.c, maxLockInfoBytes)
	if err != nil {
		return ""
	}
	return r.unlocked(body).ID
}
