// Package states keeps states in a database on a server: PostgreSQL 14 or later, or one that speaks
// MySQL's protocol, MySQL 8.4 or later, MariaDB 10.6 or later, TiDB. Several nodes may share one database.
//
// A change travels like this:
//
//	store.go      the state.Store methods that change something, or count
//	              (stateengine encodes the body, and decides on the change)
//	transact.go   its transaction is made until its outcome is known (sqldb.Transactor)
//	record.go     the state's row is locked, what stands against the change is asked for, and
//	              what it writes is kept back
//	tx.go         and sent in one piece, with a token and the COMMIT
//	journal.go    what it tells of itself moves to the audit log and to what is counted
//
// and a read like this:
//
//	read.go       in its organization's turn, by one statement, which sees one moment
//	pieces.go     a body is put together
//	lists.go      lists have turns of their own, and look at so many rows only
//	events.go     what reads the log has it brought up to date first
//	newest.go     whether what somebody knows of states is what they are by now
//
// What the servers do differently stands in dialect.go, as far as it is SQL, and in server.go.
//
// What a node has acknowledged it remembers outside the database:
//
//	acks.go       the last changes, in memory and in a file
//	rewind.go     which of them the database has lost, and that their states are refused
//
// A version is stored whole or as a delta of one that is. Before a version goes away, what is a
// delta of it is stored anew (detach.go, remove.go, expunge.go, shred.go).
//
// A transaction locks its state's row and no other that anybody but those who change that state
// waits for. So a node that stops in the middle of one keeps nobody from other states, and what
// holds it ends with its session.
package states
