package middleware

import (
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Doors know which organizations' requests are being worked on, and keep those of some out. A
// request is inside from when it is known whose it is until it is answered. They are safe for
// concurrent use.
type Doors struct {
	mu     sync.Mutex
	inside map[uuid.UUID]int
	shut   map[uuid.UUID]chan struct{} // closed when nobody is inside
}

// NewDoors returns doors that are open.
func NewDoors() *Doors {
	return &Doors{inside: map[uuid.UUID]int{}, shut: map[uuid.UUID]chan struct{}{}}
}

// Shut lets nobody of an organization in any more. What it returns is closed when all are answered
// who came before.
func (d *Doors) Shut(org uuid.UUID) (empty <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut[org] == nil {
		d.shut[org] = make(chan struct{})
		if d.inside[org] == 0 {
			close(d.shut[org])
		}
	}
	return d.shut[org]
}

// Open lets an organization in again.
func (d *Doors) Open(org uuid.UUID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.shut, org)
}

func (d *Doors) enter(org uuid.UUID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut[org] != nil {
		return false
	}
	d.inside[org]++
	return true
}

func (d *Doors) leave(org uuid.UUID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside[org]--; d.inside[org] > 0 {
		return
	}
	delete(d.inside, org)
	if empty := d.shut[org]; empty != nil {
		close(empty)
	}
}

// Watch has those behind it come in by the doors. It comes before Authenticate and Identify.
func (d *Doors) Watch() gin.HandlerFunc {
	return func(c *gin.Context) {
		r := infoOf(c)
		r.doors = d
		defer r.leave()
		c.Next()
	}
}

// enter lets a request of the organization in, unless its door is shut.
func (r *requestInfo) enter(org uuid.UUID) error {
	if r.doors == nil || r.inside == org {
		return nil
	}
	if !r.doors.enter(org) {
		return fault.New(fault.CredentialsWrong, "the organization was removed")
	}
	r.inside = org
	return nil
}

func (r *requestInfo) leave() {
	if r.inside != uuid.Nil {
		r.doors.leave(r.inside)
	}
}
