// Package moving copies what is in the tables of one database to another one that may keep the same
// things in other tables, and proves that both have the same.
//
//	table.go   what is copied: tables of records, as neither database has them
//	shape.go   how one of the databases keeps a table
//	read.go    pages of records, in the order of their keys
//	write.go   records are put and dropped
//	copy.go    the two sides are walked together, and what differs is changed
//	verify.go  a digest over all records of each side
//
// A copy is made by comparing: whatever is at the target already, from a copy that was broken off or
// from one that was made while the source was still written, only what differs is changed. So there is
// no position to keep, and nothing depends on where a process was killed.
package moving
