// Package dual keeps uploads in two stores, the sides "csv" and "mysql", and makes up for
// what one of them misses.
//
// An upload travels like this:
//
//	store.go    Append and the reads, which come from CSV
//	lane.go     an organization's uploads go one at a time, so both sides see one order
//	outbox.go   the batch is made durable before a side hears of it
//	side.go     it is sent to the sides, each with a time limit
//	verdict.go  what the sides said becomes the answer, and the debt
//	replay.go   debts are paid in order when the side is back (deliver.go: one of them)
//
// The upload succeeds when one side has recorded it; the outbox keeps it for the other. A
// side dedupes by the batch's ID, so to send too often does no harm, and a crash between
// any two steps leaves a row that is sent again.
//
// When both sides fail, the answer is StoreUnavailable. If both surely recorded nothing,
// the row is removed and nothing remains. If a side left it open, the row stays and is
// recorded on both once they are back: the sides must not differ, and what may be there
// can't be taken back. Meanwhile the organization's further uploads are refused and leave
// nothing, so an outage brings at most one such batch for each organization.
//
// Reads show what CSV has. While CSV is behind, they lack what only MySQL has recorded,
// and Status says so.
package dual
