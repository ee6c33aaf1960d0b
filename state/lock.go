package state

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// MaxLockIDLength is the longest lock ID, in characters. Clients send UUIDs.
const MaxLockIDLength = 255

// LockInfo is what a client says of itself when it locks: the fields of
// statemgr.LockInfo in Terraform and OpenTofu, and the bytes they came in.
type LockInfo struct {
	ID        string // chosen by the client; the only field that locks are matched by
	Operation string // such as OperationTypeApply
	Info      string
	Who       string // user@host
	Version   string // of the client
	Created   string // RFC 3339, or empty
	Path      string

	// Raw is the JSON exactly as the client sent it. Other clients get these bytes.
	Raw json.RawMessage `json:"-"`
}

// Forced reports whether an UNLOCK with this info is OpenTofu's force-unlock: since 1.10
// it sends nothing but the ID and a Created of the year one. Terraform's has no info.
func (i LockInfo) Forced() bool {
	created, err := time.Parse(time.RFC3339Nano, i.Created)
	return err == nil && created.IsZero() && i.Who == ""
}

// Lock is a held lock.
type Lock struct {
	Info  LockInfo
	Since time.Time // when Holdfast granted it
	KeyID string    // key that took it
	Run   RunRef    // that took it; the zero RunRef for everybody else's
	// Seen is the last sign of life: when a request of that key carried the lock's ID.
	Seen time.Time
}

// ParseLockInfo reads a LockInfo that has an ID. The error is a fault.LockInvalid.
//
// It must be strict JSON, and a Created must be RFC 3339: clients that are shown the holder
// could not read anything else. A missing Created is fine.
func ParseLockInfo(body []byte) (LockInfo, error) {
	if err := jsonscan.Object(body, jsonscan.Limits{}, nil); err != nil {
		return LockInfo{}, fault.Wrap(err, fault.LockInvalid, "the lock info is not one JSON object in UTF-8")
	}
	var sent struct {
		LockInfo
		Created *string // shadows LockInfo's, to tell a missing one from an empty one
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return LockInfo{}, fault.Wrap(err, fault.LockInvalid, "the lock info is not a JSON object with text fields")
	}
	info := sent.LockInfo
	if err := CheckLockID(info.ID); err != nil {
		return LockInfo{}, err
	}
	if sent.Created != nil {
		info.Created = *sent.Created
		if _, err := time.Parse(time.RFC3339Nano, info.Created); err != nil {
			return LockInfo{}, fault.Wrap(err, fault.LockInvalid, "the lock info's Created is not a time in RFC 3339")
		}
	}
	info.Raw = bytes.Clone(body)
	return info, nil
}

// CheckLockID checks a lock ID's length: 1 to MaxLockIDLength characters.
func CheckLockID(id string) error {
	if id == "" {
		return fault.New(fault.LockInvalid, "the lock ID is missing")
	}
	if n := utf8.RuneCountInString(id); n > MaxLockIDLength {
		return fault.New(fault.LockInvalid, "the lock ID has %d characters; at most %d are allowed", n, MaxLockIDLength)
	}
	return nil
}

// HeldError says that somebody else holds the lock. Its fault's code is LockHeld for a
// call that must wait, LockMismatch for an UNLOCK with another ID.
type HeldError struct {
	Fault  *fault.Error
	Holder LockInfo
}

func held(code fault.Code, holder LockInfo) *HeldError {
	return &HeldError{Holder: holder,
		Fault: fault.New(code, "the lock is held by %q for %q", holder.Who, holder.Operation)}
}

func (e *HeldError) Error() string { return e.Fault.Error() }

// InTheWay returns the holder's lock info as it came, for whoever is refused because of it.
func (e *HeldError) InTheWay() json.RawMessage { return e.Holder.Raw }

func (e *HeldError) Unwrap() error { return e.Fault }

// maxBrief is how many bytes of a LockInfo's text versions and events repeat: a LockInfo may
// be long, and they are many.
const maxBrief = 255

// brief cuts a text of a LockInfo, at a character.
func brief(text string) string {
	if len(text) <= maxBrief {
		return text
	}
	end := maxBrief
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
