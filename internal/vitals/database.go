package vitals

// Database is how an embedded database is, and what was done to it since it was opened.
type Database struct {
	Bytes, WALBytes int64 // of its files
	Waiting         int   // jobs that wait for their turn to write
	// Seconds that transactions took with their fsync, and how many jobs shared each.
	Commits, Batches Distribution
	Failures         uint64 // transactions that were undone
}

// Databases are the embedded databases of something, by fixed names.
type Databases interface {
	Databases() map[string]Database
}
