// Package dual keeps uploads in two stores, its sides, CSV files and a database: it writes to both, succeeds if one of
// them does, and sends the other one later what it has missed. Reads come from CSV.
//
//	store.go    Append: a batch goes to the outbox first, then to both sides, and what they say is the answer
//	lane.go     an organization's batches go one at a time, so that both sides see one order
//	outbox.go   keeps batches, durably, until both sides have them
//	side.go     a call of a side, with a time limit, and what its answer means
//	replay.go   sends a side what it has missed, in order, when it is back
//	status.go   whether a side is behind, and how much may be kept for it
//	shred.go    destroys what there is of an organization
//
// A side knows batches by their IDs, so to send one too often does no harm, and after a crash between any two steps it
// is sent again. A side that was away for longer than it remembers IDs may get a batch twice whose answer was lost.
//
// When no side says that it has recorded a batch, the answer is an error. If both surely have not, nothing remains.
// If one may have, the batch stays in the outbox and comes to both, because they must not differ and what may be there
// can't be taken back; until then the organization's further uploads are refused.
//
// A side may refuse a batch for good: it is too large for the database, say. That is logged as an error and counted,
// and the side goes on with the next batch.
package dual
