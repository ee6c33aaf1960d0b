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
//	writeoff.go a debt that the side will never take is written off (decide.go: durably)
//
// Beside it, room.go bounds what the outbox keeps of each organization, deadletters.go is what
// an operator does with what was written off, and compare.go looks whether the sides differ.
//
// The upload succeeds when one side has recorded it; the outbox keeps it for the other. A
// side dedupes by the batch's ID, so to send too often does no harm, and a crash between
// any two steps leaves a row that is sent again.
//
// When both sides fail, the answer is StoreUnavailable. If both surely recorded nothing,
// the row is removed and nothing remains. If a side left it open, the row stays and is
// recorded on both once they are back: the sides must not differ, and what may be there
// can't be taken back. Meanwhile the organization's further uploads are refused and leave
// nothing, so an outage brings at most one such batch for each organization. It is so also
// when the other side has refused the batch: that one says so again when its debt is paid.
//
// A side may refuse a batch for good: it is too large for the database, say, or the CSV file
// was edited and nobody mended it for a while. If the other side has the batch, it becomes a
// dead letter, and the side goes on with the next one. If no side has it, it is given up:
// nobody was told that it is recorded. What a side has against a batch may be its ID alone, which
// it knows for another batch and the other one has forgotten: then it takes the batch by an ID
// made from its contents, once it is known that the other side has it. A dead letter that is
// tried again comes where the side appends: behind what it has taken meanwhile, and with a later
// timestamp then.
//
// Reads show what CSV has. While CSV is behind, they lack what only MySQL has recorded,
// and Status says so.
package dual
