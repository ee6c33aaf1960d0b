// Package csv keeps uploads in one CSV file for each organization, which people can read:
// the truth about records, beside an index in SQLite that can be made again from it.
//
// An upload travels like this:
//
//	append.go    rows are rendered, and wait in their organization's queue
//	tenant.go    one goroutine for each busy organization takes what waits
//	check.go     it finds the file as it was left, or refuses it
//	plan.go      replays are answered, timestamps and places in the file are given
//	commit.go    one write, one fsync, then the index's commit, then the answers
//
// A crash in between leaves bytes behind the length that the index has. They were never
// acknowledged: recover.go keeps them aside at the next start and cuts the file back.
//
// A reader takes the file in pieces of about 256 KiB and compares each with its checksum
// before it looks at a row (records.go). A writer looks whether the file's inode, size
// and change time are those it left; only if not, and once, it compares the whole file
// (verify.go). So an edit is always found before a record of the edited piece is read,
// and before anything is appended, except by someone who changes a file in place, leaves
// its size and sets the system's clock back to the same nanosecond.
package csv
