package state

import "sync/atomic"

// Finding is how often guards found one thing since the service was made.
type Finding struct {
	Name string // as in Warnings.List
	// How often the write was accepted all the same, and kept back.
	Accepted, Held uint64
}

// findings counts over all organizations.
type findings struct{ accepted, held [numWarnings]atomic.Uint64 }

func (f *findings) count(w Warnings, held bool) {
	counters := &f.accepted
	if held {
		counters = &f.held
	}
	for i := range counters {
		if w&(1<<i) != 0 {
			counters[i].Add(1)
		}
	}
}

// Findings returns the counts of all findings that there are.
func (s *Service) Findings() []Finding {
	list := make([]Finding, numWarnings)
	for i, name := range warningNames() {
		list[i] = Finding{Name: name, Accepted: s.findings.accepted[i].Load(), Held: s.findings.held[i].Load()}
	}
	return list
}
