// Package planfile opens the plan file of OpenTofu or Terraform and says what it was made of, so
// that the server need not believe whoever uploads it: which state it was planned against, which
// configuration and lock file are in it, which version of the tool wrote it, and whether it
// carries credentials.
//
// A plan file is a zip archive with the members
//
//	tfplan               the planned changes, a protobuf message
//	tfstate              the prior state, with the lineage and serial that an apply compares
//	tfstate-prev         the state before it was refreshed, without lineage and serial
//	tfconfig/…           the configuration that an apply will use, see config.go
//	.terraform.lock.hcl  the providers that it was planned with
//
// The file comes from the process that planned, which ran what the configuration told it to, so
// every byte of it is taken for hostile. An archive is refused when two readers could disagree
// about it: a name that comes twice, a directory that is not where the end record says, 64-bit
// records. Nothing is read beyond the limits, and only the heads of the plan, of its changes and of
// the state and the configuration's manifest are understood; the rest is hashed or passed over.
package planfile

import (
	"crypto/sha256"
	"io"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs/outline"
)

// Digest is a SHA-256.
type Digest = [sha256.Size]byte

// Limits bounds what Inspect looks at. A zero stands for the default.
type Limits struct {
	Size    int64 // of the file
	Total   int64 // of all members, unpacked
	Member  int64 // of one member, unpacked
	Members int   // how many there may be
	Ratio   int64 // how many times larger than its packed bytes a member of over a MiB may be
}

// The limits where none are set.
const (
	DefaultSize    = 256 << 20
	DefaultTotal   = 2 << 30
	DefaultMember  = 1 << 30
	DefaultMembers = 20_000
	DefaultRatio   = 500
)

func (l Limits) withDefaults() Limits {
	setDefault(&l.Size, DefaultSize)
	setDefault(&l.Total, DefaultTotal)
	setDefault(&l.Member, DefaultMember)
	setDefault(&l.Ratio, DefaultRatio)
	if l.Members <= 0 {
		l.Members = DefaultMembers
	}
	return l
}

func setDefault(limit *int64, value int64) {
	if *limit <= 0 {
		*limit = value
	}
}

// Facts is what a plan file says of itself.
type Facts struct {
	// Encrypted is whether the file is encrypted by OpenTofu. Then it says nothing else, and
	// nothing of it can be checked.
	Encrypted bool
	// Tool is "opentofu", "terraform" or "engine", by the head of the lock file that the tool wrote into
	// the plan; empty if that tells neither. The plan itself has only the version.
	Tool        string
	ToolVersion string
	// Prior is the state that the plan was made against, and that an apply compares. Where there
	// was none, the lineage is empty and the serial is 0.
	Prior   State
	Backend Backend
	Mode    Mode
	// Errored is whether planning failed, so that no tool applies the plan.
	Errored bool
	// Targets and Excludes are the addresses that the plan was limited to, and that it left out.
	Targets, Excludes []string
	// Config has the digest of every configuration file, by its path from the folder in which
	// the tool ran: main.tf, modules/a/main.tf, ../shared/main.tf.
	Config map[string]Digest
	// Modules is the digest of the modules' manifest (their keys, sources, versions and folders)
	// and of the files of those that init downloaded.
	Modules Digest
	// LockFile is the LockFileDigest of the lock file.
	LockFile Digest
	// Outline is what the plan does to which resource, to be held against the Outline of the JSON
	// that is shown of it.
	Outline Digest

	changes outline.Set
	// folders are the folders of the modules in Config.
	folders []string
}

// State is what a state's file says of itself.
type State struct {
	Lineage     string
	Serial      uint64
	ToolVersion string
}

// Mode is what a plan is for.
type Mode string

// The modes.
const (
	Normal      Mode = "normal"
	Destroy     Mode = "destroy"
	RefreshOnly Mode = "refresh-only"
)

// Inspect reads a plan file of the given size. The error is a fault: PlanFileInvalid or
// PlanFileTooLarge for what is wrong with the file, and what r returned for the rest.
func Inspect(r io.ReaderAt, size int64, limits Limits) (Facts, error) {
	limits = limits.withDefaults()
	if size > limits.Size {
		return Facts{}, tooLarge("the plan file has %d bytes, more than the %d that one may have", size, limits.Size)
	}
	encrypted, err := isEncrypted(r, size)
	if encrypted || err != nil {
		return Facts{Encrypted: encrypted}, err
	}
	a, err := openArchive(r, size, limits)
	if err != nil {
		return Facts{}, err
	}
	facts := Facts{Mode: Normal}
	for _, part := range []struct {
		name string
		read func(io.Reader) error
	}{
		{"tfplan", facts.readPlan},
		{"tfstate", facts.Prior.read},
		{lockFileName, facts.readLockFile},
	} {
		if err := a.read(part.name, part.read); err != nil {
			return Facts{}, err
		}
	}
	if err := facts.readConfig(a); err != nil {
		return Facts{}, err
	}
	return facts, nil
}

func invalid(format string, args ...any) error {
	return fault.New(fault.PlanFileInvalid, format, args...)
}

func tooLarge(format string, args ...any) error {
	return fault.New(fault.PlanFileTooLarge, format, args...)
}
