package stateengine

import (
	"slices"

	"github.com/holdfast/holdfast/storage/moving"
)

// The records that a store of states consists of, as all engines have them. What follows from them
// (sums, indexes, a journal) each engine makes itself, and what is about one database's own files or
// sessions is in none.

// HeadRecords are states, but for which version is their newest one, which comes behind the versions.
func HeadRecords() moving.Table {
	return moving.Table{Name: "states", Key: moving.Ints("id"), Rest: slices.Concat(
		moving.Texts("org", "name", "owner"), moving.Ints("deleted_at", "undeleted"), moving.Texts("released_id"),
		moving.Ints("purges"),
		moving.Ints("lock_since"), moving.Texts("lock_key", "lock_id", "lock_operation", "lock_info", "lock_who",
			"lock_version", "lock_created", "lock_path"), moving.Blobs("lock_raw"), moving.Ints("lock_seen"),
		moving.Texts("lock_run"), moving.Ints("lock_epoch"),
		moving.Texts("fence_run"), moving.Ints("fence_epoch", "fence_open"), moving.Texts("expected"))}
}

func versionFields() []moving.Column {
	return slices.Concat(moving.Ints("serial"), moving.Texts("lineage", "terraform_version"),
		moving.Ints("encrypted", "size"), moving.Blobs("digest"), moving.Ints("created_at"),
		moving.Texts("key_id", "address", "request", "who", "operation", "subject"), moving.Ints("resources"),
		moving.Texts("warnings"), moving.Ints("origin_version"), moving.Texts("origin_candidate", "reason"),
		moving.Ints("purged"))
}

// VersionRecords are versions with their bytes as they are stored: base is the number of the one that
// a delta is of. The encoding is empty where the bytes are gone.
func VersionRecords() moving.Table {
	return moving.Table{Name: "versions", Key: moving.Ints("state", "number"), Body: "bytes", Rest: slices.Concat(
		versionFields(), moving.Texts("encoding"), moving.Ints("stored", "base"))}
}

// BaseRecords say of deltas once more which version each is one of: it may have a higher number, and so
// be there only when all versions are.
func BaseRecords() moving.Table {
	return moving.Table{Name: "bases", Key: moving.Ints("state", "number"), Rest: moving.Ints("base")}
}

// NewestRecords say which version of a state is its newest one.
func NewestRecords() moving.Table {
	return moving.Table{Name: "newest versions", Key: moving.Ints("state"), Rest: moving.Ints("number")}
}

// LockIDRecords are the IDs of locks that were released.
func LockIDRecords() moving.Table {
	return moving.Table{Name: "released locks", Key: slices.Concat(moving.Ints("state"), moving.Texts("id"))}
}

// PurgedRecords are the digests of what was purged.
func PurgedRecords() moving.Table {
	return moving.Table{Name: "purged digests", Key: slices.Concat(moving.Ints("state"), moving.Blobs("digest"))}
}

// CandidateRecords are candidates with their bytes, which those that are settled have no more.
func CandidateRecords() moving.Table {
	return moving.Table{Name: "candidates", Key: moving.Ints("seq"), Body: "bytes", Rest: slices.Concat(
		moving.Ints("state"), moving.Texts("id", "source", "status"), moving.Ints("decided_at", "number"), versionFields(),
		moving.Blobs("content"), moving.Texts("encoding"), moving.Ints("stored"))}
}

// EventRecords are the audit log.
func EventRecords() moving.Table {
	return moving.Table{Name: "audit events", Key: moving.Ints("sequence"), Rest: slices.Concat(
		moving.Ints("at"), moving.Texts("org", "action", "state"), moving.Ints("version"),
		moving.Texts("lock_id", "refused", "reason", "note", "key_id", "key_name", "subject", "role", "address", "request"))}
}

// LinkRecords are what is kept of a chain beside an event.
func LinkRecords() moving.Table {
	return moving.Table{Name: "links of the audit log", Key: moving.Ints("sequence"),
		Rest: slices.Concat(moving.Ints("place"), moving.Blobs("hash"))}
}

// ChainRecords are how far the chains of organizations' events have come.
func ChainRecords() moving.Table {
	return moving.Table{Name: "chains of the audit log", Key: moving.Texts("org"), Rest: slices.Concat(
		moving.Blobs("seed"), moving.Ints("first", "sequence", "place"), moving.Blobs("hash"))}
}

// CheckpointRecords are the last events that retention has removed.
func CheckpointRecords() moving.Table {
	return moving.Table{Name: "checkpoints of the audit log", Key: moving.Texts("org"), Rest: slices.Concat(
		moving.Ints("sequence", "place"), moving.Blobs("hash"), moving.Ints("at"))}
}

// KeyRecords are the wrapped data keys that states are sealed with.
func KeyRecords() moving.Table {
	return moving.Table{Name: "data keys of states", Key: slices.Concat(moving.Texts("org"), moving.Ints("number")),
		Rest: moving.Blobs("id", "wrapped")}
}

// SealRecords say whose master keys wrap the data keys.
func SealRecords() moving.Table {
	return moving.Table{Name: "sealing of states", Key: moving.Ints("id"),
		Rest: moving.Blobs("mark")}
}

// UsageRecords are how many bytes are kept for each organization. They are compared, and not copied.
func UsageRecords() moving.Table {
	return moving.Table{Name: "usage", Key: moving.Texts("org"), Rest: moving.Ints("bytes")}
}
