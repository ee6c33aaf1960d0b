package state

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Digest is the SHA-256 of a state's exact bytes.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

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
}

// Author is who wrote a version and on what occasion.
type Author struct {
	KeyID     string
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
