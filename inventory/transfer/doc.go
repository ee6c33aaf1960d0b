// Package transfer moves records between stores and files, with the timestamps that they
// have.
//
//	read.go      a file becomes records
//	writer.go    records become batches of a store, after those that it has already
//	follower.go  the records that a store has, one at a time
//	copy.go      an organization's records go from one store to another
//	digest.go    what shows that two stores hold the same
//
// What was moved is recognised by what it is, not by a note about how far an earlier run
// came: so a run that was interrupted is simply started again, and one that is repeated
// changes nothing.
package transfer
