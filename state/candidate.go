package state

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// Candidate is a body that is not a version, or not yet: a guard held it back, a run wrote it
// whose place another one has taken, or somebody brought it, such as an errored.tfstate. Nothing of it is lost until
// somebody decides.
type Candidate struct {
	// ID is the same for the same content on top of the same version, whatever its serial: a client
	// that sends its refused write again makes no second candidate. The first one's bytes stay.
	ID string
	// Version describes the body as the version that it would become. Number is that of
	// the newest version it was brought on top of.
	Version
	Source  Source
	Status  CandidateStatus
	Decided time.Time // when it was promoted or discarded; zero while it is open
	// Content is the digest of the body without its serial (see contentOf): tries of one write
	// have the same one, on whatever version they came.
	Content Digest
}

// Source is how a candidate came.
type Source string

// The sources of candidates.
const (
	Held   Source = "held"   // a write that a guard kept back
	Pushed Source = "pushed" // brought on purpose
	Fenced Source = "fenced" // the write of a run that may not write, or not any more
)

// CandidateStatus is what became of a candidate.
type CandidateStatus string

// The statuses of candidates. Only open ones keep their bytes.
const (
	Open      CandidateStatus = "open"
	Promoted  CandidateStatus = "promoted" // its content became a version, from it or from a twin
	Discarded CandidateStatus = "discarded"
)

// Settlement ends a candidate's being open, and that of its twins.
type Settlement struct {
	ID     string          // of the candidate; empty for its twins alone
	Status CandidateStatus // Promoted or Discarded
	At     time.Time
	// Content is what its twins have, which are other tries of the same write; zero for leaving
	// them alone.
	Content Digest
}

// Ends reports whether it ends an open candidate.
func (s Settlement) Ends(c Candidate) bool {
	return c.Status == Open && (c.ID == s.ID || s.Content != (Digest{}) && c.Content == s.Content)
}

// MaxOpenCandidates bounds the open candidates of one state: a client that is held back
// again and again must not fill the disk.
const MaxOpenCandidates = 20

// CandidateIDLength is how many hexadecimal digits an ID has.
const CandidateIDLength = 16

// IsCandidateID reports whether a text could be the ID of a candidate.
func IsCandidateID(text string) bool {
	return len(text) == CandidateIDLength && strings.Trim(text, "0123456789abcdef") == ""
}

// candidateID follows from the content and from what it was brought on top of, so that the
// same content sent again is the same candidate. again tells apart what was brought again
// after it was settled.
func candidateID(base uint64, content Digest, again uint64) string {
	text := binary.BigEndian.AppendUint64(nil, base)
	if again > 0 {
		text = binary.BigEndian.AppendUint64(text, again)
	}
	sum := sha256.Sum256(append(text, content[:]...))
	return hex.EncodeToString(sum[:CandidateIDLength/2])
}
