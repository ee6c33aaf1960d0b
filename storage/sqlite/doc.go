// Package sqlite keeps states in one SQLite database: the embedded store.
//
// A call travels like this:
//
//	store.go    the state.Store methods
//	(stateengine encodes the body, and decides on the change)
//	session.go  its job waits for its turn in a sqlitedb.Writer, which commits what waits together
//	heads.go    the heads that were written last
//	record.go   a decision's change becomes rows
//	staterows.go the one place where rows of states, versions and bodies are written
//	readers.go  Current, Head and Version read beside the writer
//	lists.go    lists have readers of their own, in turns, and look at so many rows only
//	sweep.go    what purges leave in the files is overwritten, once for all that wait
//
// A version is stored whole or as a delta of one that is (stateengine): to read any takes two
// rows. Before a version goes away, what is a delta of it is stored anew (detach.go).
//
// The database is in WAL mode with full sync: when an Update returns, its change has been
// fsynced. One process owns the directory for as long as the store is open.
package sqlite
