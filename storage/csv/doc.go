// Package csv keeps uploads in one CSV file for each organization, which people can read:
// the truth about records, beside an index in SQLite that can be made again from it.
//
// An upload travels like this:
//
//	append.go    rows are rendered, and wait in their organization's queue
//	tenant.go    one goroutine for each busy organization takes what waits
//	check.go     it finds the file as it was left, or refuses it
//	plan.go      replays are answered, timestamps and places in the file are given
//	commit.go    one write, then the index's commit with the same bytes, then the answers
//	flush.go     behind them, the file's own fsync; then the index lets go of the bytes
//
// A crash in between leaves bytes behind the length that the index has. They were never
// acknowledged: recover.go keeps them aside at the next start and cuts the file back. If
// the machine crashed, the file may lack bytes that were acknowledged: refill.go puts them
// back before.
//
// A reader takes the file in pieces of about 256 KiB and compares each with its checksum
// before it looks at a row (records.go, walk.go, load.go). A writer looks whether inode,
// size and change time of the file are those it left; only if not, and once, it compares
// the whole file (check.go, verify.go, diagnose.go).
//
// So nothing is read from a piece that was edited, and nothing is appended to a file that
// was, with one exception: an edit in place that keeps the size and falls into the same
// tick of the file system's clock as our last write goes unnoticed until somebody reads
// that piece. The price is that a file which was copied, restored, renamed or given other
// permissions is read once from end to end, at about the speed of the disk.
//
// Old records are removed by putting a file without them in the place of the old one
// (expire.go, kept.go). The index goes on counting bytes and lines as if they were there, so
// that its rows, its journal and cursors stay as they are; it has how many bytes and lines
// are gone, which only who reads or writes the file takes off.
package csv
