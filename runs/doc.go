// Package runs plans and applies: what a run is, which states it goes through, and who may
// move it.
//
// A run is one row. It plans against one version of a state, waits until people have agreed to
// exactly that plan, and applies it. Whoever executes it (the server itself or an agent on
// another machine) has no authority of its own: it holds a lease, renews it, and names the
// run's epoch in whatever it says. A lease that ends makes the epoch grow, and what comes with
// an older one is refused.
//
// rules.go has the transitions as pure functions from a run to a changed one. Service is the
// only door: it asks the gate whether the caller may, makes a decision out of a rule, and has
// the Store carry it out in one transaction with its events.
package runs
