package inventory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/quota"
)

const (
	maxIdempotencyKey = 255
	maxIdentities     = 5_000_000

	// How many calls of Latest and Summary read at once, of all and of one organization: each
	// takes up a processor.
	maxReadings    = 4
	maxOwnReadings = 2
)

// Service is the door to the inventory: every operation names its caller, and touches
// that caller's organization only.
type Service struct {
	store         Store
	gate          *audit.Gate   // nil for refusals that nobody records
	quota         *quota.Keeper // nil for no bound
	maxIdentities int
	ahead         *ahead
	uploaded      func(uuid.UUID)
	turns         *turns.Turns   // of the calls of Latest and Summary
	memory        *budget.Budget // nil for no bound
	secrets       Secrets
	reads         *audit.Reads // nil for uploads that nobody has on record
	clock         func() time.Time
}

// NewService returns a service on store.
func NewService(store Store) *Service {
	return &Service{store: store, maxIdentities: maxIdentities, turns: turns.New(maxReadings, maxOwnReadings),
		ahead: newAhead(time.Now, slog.New(slog.DiscardHandler)), uploaded: func(uuid.UUID) {}}
}

// WithGate has the gate record who is refused for want of a right, and returns the service.
func (s *Service) WithGate(gate *audit.Gate) *Service {
	s.gate = gate
	return s
}

// WithReads has it on record, with the times of a clock, who uploads: before the records are there, and once an hour
// for the same key and address, with how many more times it was. An entry each would be a commit each.
func (s *Service) WithReads(reads *audit.Reads, clock func() time.Time) *Service {
	s.reads, s.clock = reads, clock
	return s
}

// WithQuota has the service record only what keeper has room for, and returns it.
func (s *Service) WithQuota(keeper *quota.Keeper) *Service {
	s.quota = keeper
	return s
}

// WithSecrets says what becomes of secrets in uploads, and returns the service. Without it they are accepted.
func (s *Service) WithSecrets(secrets Secrets) *Service {
	s.secrets = secrets
	return s
}

// Tell has f called with the organization after each upload that may have been recorded. It
// is to be called before there are any; f must be quick.
func (s *Service) Tell(f func(org uuid.UUID)) { s.uploaded = f }

// Within has the service acquire what it remembers for an answer from a budget. Without one
// nothing bounds that.
func (s *Service) Within(memory *budget.Budget) *Service {
	s.memory = memory
	return s
}

// Accepted says what became of an upload.
type Accepted struct {
	Receipt
	// Ignored points to members of the body that mean nothing here.
	Ignored []string
	// Masked is how many secrets of the body are not recorded.
	Masked int
}

// Upload records what body reports: all of it or nothing. With an idempotency key, the
// same body is recorded once, however often it comes; an empty key is none. Faults:
// UploadMalformed, UploadInvalid, IdempotencyInvalid, IdempotencyMismatch,
// QuotaExceeded, and what Store.Append returns.
func (s *Service) Upload(ctx context.Context, p auth.Principal, body []byte, idempotencyKey string) (Accepted, error) {
	if err := s.gate.Authorize(ctx, p, auth.WriteData); err != nil {
		return Accepted{}, err
	}
	id, err := batchID(idempotencyKey)
	if err != nil {
		return Accepted{}, err
	}
	upload, err := ParseWith(body, s.secrets)
	if err != nil {
		return Accepted{}, err
	}
	if s.reads != nil {
		s.reads.Note(ctx, audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: audit.Upload})
	}
	receipt, err := s.append(ctx, Batch{
		ID: id, Digest: digest(id, body, idempotencyKey), Org: p.Org, Request: p.Request, Resources: upload.Resources,
		New: idempotencyKey == "",
	})
	s.uploaded(p.Org) // also after an error, which may leave it open what was recorded
	if fault.Is(err, fault.IdempotencyMismatch) {
		err = fault.Wrap(err, fault.IdempotencyMismatch,
			"this Idempotency-Key came with another body before; nothing was stored, use a new key for a new upload")
	}
	s.ahead.learn(ctx, p.Org, receipt)
	return Accepted{Receipt: receipt, Ignored: upload.Ignored, Masked: upload.Masked}, err
}

// append records a batch for which there is room.
func (s *Service) append(ctx context.Context, batch Batch) (Receipt, error) {
	room := s.quota.Ask(ctx, batch.Org, quota.Uploads)
	batch.Allow = room.Allow
	receipt, err := s.store.Append(ctx, batch)
	room.Close(err)
	return receipt, err
}

// batchID is random without a key. With one it is the key's hash, which has the form that
// stores want and keeps what callers put into keys out of files and tables.
func batchID(key string) (string, error) {
	if key == "" {
		id, err := uuid.NewRandom()
		return id.String(), err
	}
	if len(key) > maxIdempotencyKey {
		return "", errIdempotencyKey()
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return "", errIdempotencyKey()
		}
	}
	sum := sha256.Sum256([]byte(key))
	return keyedPrefix + hex.EncodeToString(sum[:30]), nil // 64 characters
}

// digest is the body's where a caller may use the ID again, for that or for something else. An
// ID that was made for the upload stands for it by itself: to hash the body as well takes 4 %
// of the upload's processor time.
func digest(id string, body []byte, key string) [32]byte {
	if key == "" {
		return sha256.Sum256([]byte(id))
	}
	return sha256.Sum256(body)
}

func errIdempotencyKey() error {
	return fault.New(fault.IdempotencyInvalid, "the Idempotency-Key is not 1 to %d visible ASCII characters",
		maxIdempotencyKey)
}

// Records reads the caller's records as Store.Records does.
func (s *Service) Records(ctx context.Context, p auth.Principal, query Query) iter.Seq2[Positioned, error] {
	if err := s.gate.Authorize(ctx, p, auth.ReadData); err != nil {
		return failed(err)
	}
	return s.store.Records(ctx, p.Org, query)
}

// Latest reads the newest record of each provider, category, type and name among those
// that pass the query's filters, newest first. It ignores the query's Order and After. What
// it remembers to tell is acquired as it grows: besides the store's errors, Overloaded may
// end it.
func (s *Service) Latest(ctx context.Context, p auth.Principal, query Query) iter.Seq2[Positioned, error] {
	if err := s.gate.Authorize(ctx, p, auth.ReadData); err != nil {
		return failed(err)
	}
	query.Order, query.After = Descending, ""
	return func(yield func(Positioned, error) bool) {
		l := latest{
			hold: s.memory.Hold(budget.Share{Org: p.Org}), most: s.maxIdentities, yield: yield,
			turn: func() (release func(), err error) { return s.turns.Acquire(ctx, p.Org) },
		}
		l.run(ctx, s.store.Records(ctx, p.Org, query))
	}
}

// Summary counts the caller's records, as Store.Summary does. It takes a turn: how much memory the
// groups take nobody knows before they are there.
func (s *Service) Summary(ctx context.Context, p auth.Principal) ([]Group, error) {
	if err := s.gate.Authorize(ctx, p, auth.ReadData); err != nil {
		return nil, err
	}
	release, err := s.turns.Acquire(ctx, p.Org)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.store.Summary(ctx, p.Org)
}

func failed(err error) iter.Seq2[Positioned, error] {
	return func(yield func(Positioned, error) bool) { yield(Positioned{}, err) }
}
