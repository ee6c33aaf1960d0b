package state

import (
	"time"

	"github.com/holdfast/holdfast/internal/digest"
)

// Digest is the SHA-256 of a state's exact bytes.
type Digest = digest.SHA256

// Version describes one accepted write. The zero Version, number 0, stands for "never
// written".
type Version struct {
	Number           uint64 // 1 for the first write, then +1 for each accepted one; never reused
	Serial           uint64 // the client's own counter; may repeat or go back
	Lineage          string // the client's ID of the state's history; may be empty
	TerraformVersion string // as the state says; empty when it doesn't
	Encrypted        bool   // encrypted by the client: only serial and lineage are readable
	Size             int64  // bytes
	Digest           Digest
	CreatedAt        time.Time // UTC, microseconds
	Author           Author

	// Resources is how many managed resource instances the body describes, deposed objects
	// included, data sources not; -1 where that is not known: encrypted by the client, or
	// of another format.
	Resources int
	// Warnings are the guards' findings that did not keep the write back.
	Warnings Warnings
	// Origin says how the version came about when no client wrote it.
	Origin Origin
	// Purged says that the bytes were destroyed on purpose; what describes them stays.
	Purged bool
}

// Bytes is about how many it takes in memory, its body apart.
func (v *Version) Bytes() int64 { return int64(describedBytes + v.textBytes()) }

// describedBytes is what a version takes beside its texts.
const describedBytes = 512

// textBytes is how long its texts are.
func (v Version) textBytes() int {
	a, o := v.Author, v.Origin
	return len(v.Lineage) + len(v.TerraformVersion) + len(a.KeyID) + len(a.Subject) + len(a.Address) + len(a.Request) +
		len(a.Who) + len(a.Operation) +
		len(o.Candidate) + len(o.Reason)
}

// Origin is where a version's content comes from, other than from a client's write.
type Origin struct {
	Version   uint64 // the older version that a rollback repeats; 0 for none
	Candidate string // the candidate that was promoted; empty for none
	Reason    string // why, as the caller said
}

// Author is who wrote a version and on what occasion.
type Author struct {
	KeyID     string
	Subject   string // who a token or certificate says it is; empty for a key
	Address   string // client address without port
	Request   string // request ID
	Who       string // of the lock that was held; empty for an unlocked write
	Operation string // likewise
}

// Snapshot is a version with its bytes. Readers share Body: nobody may change it.
type Snapshot struct {
	Version
	Body []byte
}
