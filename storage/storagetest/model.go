package storagetest

import (
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// op is one call of state.Service.
type op struct {
	Kind    string // get, put, delete, undelete, lock, unlock, force or holder
	ID      string // the lock's
	Who     string // of a lock
	Body    string // of a put
	Release bool   // of a put
}

// outcome is what can be said of a call's answer. Equal calls on equal states have equal
// outcomes.
type outcome struct {
	Code   fault.Code // empty for success
	Number uint64
	Body   string
	Holder string
}

// model is a state as PROTOCOL has it, written without a look at the code: the tests
// compare the two.
type model struct {
	Number   uint64
	Body     string
	Deleted  bool
	Restored uint64 // the version that the last undelete brought back
	Holder   string
	Who      string
	Released string
	Used     string // the IDs that were released, each between bars
}

func (m model) used(id string) bool { return strings.Contains(m.Used, "|"+id+"|") }

func (m model) exists() bool { return m.Number > 0 && !m.Deleted }

// apply returns the state after the call, and the answer it has to give.
func (m model) apply(o op) (model, outcome) {
	switch o.Kind {
	case "get":
		if !m.exists() {
			return m, outcome{Code: fault.StateNotFound}
		}
		return m, outcome{Number: m.Number, Body: m.Body}
	case "undelete":
		return m.undelete()
	case "put":
		return m.put(o)
	case "delete":
		if m.Number == 0 {
			return m, outcome{Code: fault.StateNotFound}
		}
		if m.Deleted && o.ID == "" {
			return m, outcome{}
		}
		if refused, ok := m.fence(o.ID); !ok {
			return m, refused
		}
		m.Deleted = true
		return m, outcome{}
	case "lock":
		return m.lock(o)
	case "unlock":
		return m.unlock(o.ID)
	case "force":
		return m.release(), outcome{}
	}
	return m, outcome{Holder: m.Holder}
}

func (m model) undelete() (model, outcome) {
	switch {
	case m.Number == 0:
		return m, outcome{Code: fault.StateNotFound}
	case !m.Deleted && m.Restored == m.Number: // and nothing was written since
		return m, outcome{Number: m.Number}
	case !m.Deleted:
		return m, outcome{Code: fault.StateExists}
	case m.Holder != "":
		return m, outcome{Code: fault.LockHeld, Holder: m.Holder}
	}
	m.Deleted, m.Restored = false, m.Number
	return m, outcome{Number: m.Number}
}

func (m model) put(o op) (model, outcome) {
	same := m.exists() && m.Body == o.Body
	if same && m.Holder != o.ID && (o.ID == "" || o.Release && o.ID == m.Released) {
		return m, outcome{Number: m.Number} // the first try did it all
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
	return m, outcome{Number: m.Number}
}

func (m model) lock(o op) (model, outcome) {
	if m.Holder == o.ID && m.Who == o.Who {
		return m, outcome{Holder: o.ID}
	}
	if m.Holder != "" {
		return m, outcome{Code: fault.LockHeld, Holder: m.Holder}
	}
	if m.used(o.ID) {
		return m, outcome{Code: fault.LockIDUsed}
	}
	m.Holder, m.Who = o.ID, o.Who
	return m, outcome{Holder: o.ID}
}

func (m model) unlock(id string) (model, outcome) {
	switch {
	case m.Holder == id:
		return m.release(), outcome{}
	case m.Released == id:
		return m, outcome{}
	}
	return m, outcome{Code: fault.LockMismatch, Holder: m.Holder}
}

func (m model) release() model {
	if m.Holder != "" {
		if !m.used(m.Holder) {
			m.Used += "|" + m.Holder + "|"
		}
		m.Released, m.Holder, m.Who = m.Holder, "", ""
	}
	return m
}

// fence returns the refusal of a change that comes with this lock ID, if there is one.
func (m model) fence(id string) (outcome, bool) {
	switch {
	case m.Holder == id:
		return outcome{}, true
	case m.Holder == "":
		return outcome{Code: fault.LockNotHeld}, false
	}
	return outcome{Code: fault.LockHeld, Holder: m.Holder}, false
}
