// Package statemodel is a state as the protocol has it, written without a look at the code:
// tests compare the two. It knows what everybody sees of one state, in turn; what happens at
// once is for those who look for an order of it.
package statemodel

import (
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// Op is one call of state.Service.
type Op struct {
	Kind    string // get, put, delete, undelete, lock, unlock, force or holder
	ID      string // the lock's
	Who     string // of a lock
	Body    string // of a put
	Release bool   // of a put
}

// Outcome is what can be said of a call's answer. Equal calls on equal states have equal
// outcomes.
type Outcome struct {
	Code   fault.Code // empty for success
	Number uint64
	Body   string
	Holder string
}

// Model is a state. Two that are equal answer every call alike.
type Model struct {
	Number   uint64
	Body     string
	Deleted  bool
	Restored uint64 // the version that the last undelete brought back
	Holder   string
	Who      string
	Released string
	Used     string // the IDs that were released, each between bars
}

// WasReleased says whether a lock had this ID and was released.
func (m Model) WasReleased(id string) bool { return strings.Contains(m.Used, "|"+id+"|") }

// Exists says whether there is something to read.
func (m Model) Exists() bool { return m.Number > 0 && !m.Deleted }

// Apply returns the state after the call, and the answer it has to give.
func (m Model) Apply(o Op) (Model, Outcome) {
	switch o.Kind {
	case "get":
		if !m.Exists() {
			return m, Outcome{Code: fault.StateNotFound}
		}
		return m, Outcome{Number: m.Number, Body: m.Body}
	case "undelete":
		return m.undelete()
	case "put":
		return m.put(o)
	case "delete":
		if m.Number == 0 {
			return m, Outcome{Code: fault.StateNotFound}
		}
		if m.Deleted && o.ID == "" {
			return m, Outcome{}
		}
		if refused, ok := m.fence(o.ID); !ok {
			return m, refused
		}
		m.Deleted = true
		return m, Outcome{}
	case "lock":
		return m.lock(o)
	case "unlock":
		return m.unlock(o.ID)
	case "force":
		return m.release(), Outcome{}
	}
	return m, Outcome{Holder: m.Holder}
}

func (m Model) undelete() (Model, Outcome) {
	switch {
	case m.Number == 0:
		return m, Outcome{Code: fault.StateNotFound}
	case !m.Deleted && m.Restored == m.Number: // and nothing was written since
		return m, Outcome{Number: m.Number}
	case !m.Deleted:
		return m, Outcome{Code: fault.StateExists}
	case m.Holder != "":
		return m, Outcome{Code: fault.LockHeld, Holder: m.Holder}
	}
	m.Deleted, m.Restored = false, m.Number
	return m, Outcome{Number: m.Number}
}

func (m Model) put(o Op) (Model, Outcome) {
	same := m.Exists() && m.Body == o.Body
	if same && m.Holder != o.ID && (o.ID == "" || o.Release && o.ID == m.Released) {
		return m, Outcome{Number: m.Number} // the first try did it all
	}
	if refused, ok := m.fence(o.ID); !ok {
		return m, refused
	}
	if !same {
		m.Number, m.Body, m.Deleted = m.Number+1, o.Body, false
	}
	if o.Release {
		m = m.release()
	}
	return m, Outcome{Number: m.Number}
}

func (m Model) lock(o Op) (Model, Outcome) {
	if m.Holder == o.ID && m.Who == o.Who {
		return m, Outcome{Holder: o.ID}
	}
	if m.Holder != "" {
		return m, Outcome{Code: fault.LockHeld, Holder: m.Holder}
	}
	if m.WasReleased(o.ID) {
		return m, Outcome{Code: fault.LockIDUsed}
	}
	m.Holder, m.Who = o.ID, o.Who
	return m, Outcome{Holder: o.ID}
}

func (m Model) unlock(id string) (Model, Outcome) {
	switch {
	case m.Holder == id:
		return m.release(), Outcome{}
	case m.Released == id:
		return m, Outcome{}
	}
	return m, Outcome{Code: fault.LockMismatch, Holder: m.Holder}
}

func (m Model) release() Model {
	if m.Holder != "" {
		if !m.WasReleased(m.Holder) {
			m.Used += "|" + m.Holder + "|"
		}
		m.Released, m.Holder, m.Who = m.Holder, "", ""
	}
	return m
}

// fence returns the refusal of a change that comes with this lock ID, if there is one.
func (m Model) fence(id string) (Outcome, bool) {
	switch {
	case m.Holder == id:
		return Outcome{}, true
	case m.Holder == "":
		return Outcome{Code: fault.LockNotHeld}, false
	}
	return Outcome{Code: fault.LockHeld, Holder: m.Holder}, false
}
