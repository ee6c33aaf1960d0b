package local

// Usage is what a process, and the disk below it, have done so far.
type Usage struct {
	CPU float64 // seconds of processor time, user and system
	Resident,
	Peak int64 // bytes of memory now, and at the most
	// Flushes are those that the whole disk was asked for, by whoever it was: every fsync
	// is one, unless the kernel joins several. -1 where nobody knows.
	Flushes int64
}
