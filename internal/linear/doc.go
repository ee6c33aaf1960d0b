// Package linear records what concurrent clients of several nodes asked of states and were
// told, and looks for an order of the calls in which one state, as package statemodel has it,
// answers the same: for linearizability.
//
//	workload.go clients that lock, read, write and force open a few states through any node
//	call.go     one request, and what can be said of its answer
//	history.go  what was asked and told, state by state
//	versions.go what versions each state has in the end
//	order.go    the search for an order, by what the state may be at each moment
//	config.go   which of these are one
//	check.go    Porcupine's verdict, and the picture of a history that has no order
//
// A request whose answer got lost, or was that the server can't, may have had its effect, or
// have it later, or never: the search tries all of them. Who sends it again makes another
// request, which is in the history too.
package linear
