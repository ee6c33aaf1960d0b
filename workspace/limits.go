package workspace

import "time"

// Limits bound what an organization may have. Zero fields are the defaults.
type Limits struct {
	Workspaces    int
	Variables     int   // of a workspace, and of all of them
	ValueBytes    int   // of a variable
	VariableBytes int64 // of all the values of a workspace, and of the organization's own
	// SecretBytes is what of them may be sensitive: to find a byte of it in a log in all its
	// encodings takes about 2 KiB of an executor's memory.
	SecretBytes int64

	Files         int           // of a snapshot
	Depth         int           // of folders
	FileBytes     int64         // of a file
	SnapshotBytes int64         // of a snapshot's files
	StoredBytes   int64         // of all files of an organization's snapshots
	Snapshots     int           // that a workspace keeps, beside those that runs need
	SnapshotAge   time.Duration // younger ones stay in any case
	DraftAge      time.Duration // younger drafts stay, though another one has taken their place
}

func (l Limits) withDefaults() Limits {
	orElse(&l.Workspaces, 1000)
	orElse(&l.Variables, 500)
	orElse(&l.ValueBytes, 256<<10)
	orElse(&l.VariableBytes, 2<<20)
	orElse(&l.SecretBytes, 64<<10)
	orElse(&l.Files, 10_000)
	orElse(&l.Depth, 32)
	orElse(&l.FileBytes, 10<<20)
	orElse(&l.SnapshotBytes, 100<<20)
	orElse(&l.StoredBytes, 5<<30)
	orElse(&l.Snapshots, 100)
	orElse(&l.SnapshotAge, time.Hour)
	orElse(&l.DraftAge, time.Minute)
	return l
}

func orElse[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}
