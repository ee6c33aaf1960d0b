package inventory

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Resource is one instance that a provider reported.
type Resource struct {
	Provider     string // letters, digits, _ and -; 1 to 255
	Category     string // likewise
	ResourceType string // likewise
	ResourceName string // 1 to 255 characters, any but NUL
	// Attributes is a JSON object without insignificant white space. Member order and
	// the spelling of numbers are the provider's.
	Attributes json.RawMessage
}

// Record is a resource as it is kept.
type Record struct {
	// Timestamp is when the batch was recorded: UTC, microseconds. Within an
	// organization it never goes backwards; all records of a batch share it.
	Timestamp time.Time
	Org       uuid.UUID
	Resource
}

// Batch is what one upload records: whole or not at all.
type Batch struct {
	// ID names the batch within its organization: 1 to 64 ASCII letters, digits and "-".
	// A store records a batch once; another Append of the same ID and Digest changes
	// nothing and returns the first Receipt.
	ID string
	// Digest tells a retry from the reuse of an ID for something else. For an ID that nobody
	// else can use it need not be of the contents.
	Digest [32]byte
	Org    uuid.UUID
	// Request is the ID of the request that first brought the batch.
	Request string
	// At is the timestamp to record. Zero lets the store take that of Stamp; only
	// imports and replays set it. It may not lie before the organization's newest record.
	At        time.Time
	Resources []Resource // at least one
	// New says that the ID was made for this one call of Append, so that no store need look
	// for it. Whoever sends the batch again leaves it out; a store that gets one twice all
	// the same records it once and then fails.
	New bool
	// Allow, unless it is nil, is asked before the batch is recorded, and not when it was
	// recorded before: with what Store.Usage says of the organization by then, and about how
	// much of it the batch adds. Its error refuses the batch, and Append returns it as it is.
	// It is quick, and a Store may call it more than once: only the last call counts.
	Allow func(used, adds int64) error
}

// fixedBytes is about what a record takes beside its texts.
const fixedBytes = 128

// Bytes is about what the batch's records take when they are stored.
func (b Batch) Bytes() (total int64) {
	for i := range b.Resources {
		total += b.Resources[i].bytes()
	}
	return total
}

func (r *Resource) bytes() int64 {
	return RecordBytes([3]string{r.Provider, r.Category, r.ResourceType}, int64(len(r.ResourceName)+len(r.Attributes)))
}

// RecordBytes is what Batch.Bytes counts for one resource, by its provider, category and type and by how long its name
// and attributes are together.
func RecordBytes(group [3]string, rest int64) int64 {
	return fixedBytes + int64(len(group[0])+len(group[1])+len(group[2])) + rest
}

// Check refuses what no store takes: then a rule of the service's has failed, or of an import's.
func (b *Batch) Check() error {
	if len(b.Resources) == 0 {
		return fault.New(fault.ParameterInvalid, "a batch has at least one resource")
	}
	if !IsID(b.ID) {
		return fault.New(fault.ParameterInvalid, "the ID of a batch has 1 to %d characters: letters, digits and -", maxID)
	}
	for i := range b.Resources {
		r := &b.Resources[i]
		for _, text := range [...]string{r.Provider, r.Category, r.ResourceType, r.ResourceName, b.Request} {
			switch {
			case !MayBeKept(text):
				return fault.New(fault.ParameterInvalid, "resource %d has a text with NUL or what is no UTF-8", i+1)
			case len(text) > MaxName && utf8.RuneCountInString(text) > MaxName:
				return fault.New(fault.ParameterInvalid, "resource %d has a text of more than %d characters", i+1, MaxName)
			}
		}
	}
	if year := b.At.UTC().Year(); !b.At.IsZero() && (year < 1 || year > 9999) {
		return fault.New(fault.ParameterInvalid, "the timestamp's year %d is not between 1 and 9999", year)
	}
	return nil
}

// MayBeKept reports whether a text can be one of a record's: it is UTF-8 without NUL. PostgreSQL keeps no other, and
// so that the engines are alike none does.
func MayBeKept(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// maxID is how many characters the ID of a batch has at most.
const maxID = 64

// IsID reports whether a text can be the ID of a batch.
func IsID(text string) bool {
	return len(text) > 0 && len(text) <= maxID && !strings.ContainsFunc(text, func(c rune) bool {
		return !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-')
	})
}

// MayAdd asks Allow, if there is one to ask.
func (b Batch) MayAdd(used, adds int64) error {
	if b.Allow == nil {
		return nil
	}
	return b.Allow(used, adds)
}

// Receipt is what a store says of a recorded batch, also when it is sent again.
type Receipt struct {
	Request  string // ID of the request that first brought the batch
	At       time.Time
	Count    int  // resources
	Replayed bool // the batch had been recorded before
}

// Remembered is what a store keeps of a batch ID.
type Remembered struct {
	Receipt Receipt // Replayed is true
	Digest  [32]byte
}

// Again answers another Append of the batch: with the first receipt, or with
// fault.IdempotencyMismatch when its contents differ.
func (r Remembered) Again(batch Batch) (Receipt, error) {
	if r.Digest != batch.Digest {
		return Receipt{}, fault.New(fault.IdempotencyMismatch, "the ID %q came with other contents before", batch.ID)
	}
	return r.Receipt, nil
}

// RememberFor is how long stores remember batch IDs; api.md promises a day less.
const RememberFor = 8 * 24 * time.Hour

// keyedPrefix marks an ID that comes from a caller's Idempotency-Key. Any other is random.
const keyedPrefix = "key-"

// Keyed reports whether the batch may be a caller's retry.
func (b Batch) Keyed() bool { return strings.HasPrefix(b.ID, keyedPrefix) }

// Group counts the records of one provider, category and type.
type Group struct {
	Provider, Category, ResourceType string
	Count                            int64
	First, Last                      time.Time // timestamps of the oldest and newest record
}

// Bytes is about how many it takes in memory.
func (g *Group) Bytes() int64 {
	return int64(groupBytes + len(g.Provider) + len(g.Category) + len(g.ResourceType))
}

// groupBytes is what a group takes beside its texts.
const groupBytes = 128
