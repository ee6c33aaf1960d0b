package state

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// maxText is how many characters a lineage or a Terraform version may have: the stores
// keep them in columns of this width.
const maxText = 255

// maxDigits is how many digits the largest uint64 has.
const maxDigits = 20

// Summary is what the server learns from a state's body. The body itself stays opaque.
type Summary struct {
	Serial           uint64
	Lineage          string
	TerraformVersion string
	// Encrypted says that OpenTofu encrypted the state on the client's side. Serial and
	// lineage stand outside of the encryption; nothing else in the body is readable.
	Encrypted bool
}

// Scan checks that body is one JSON object and returns what its top-level members say of
// the state. Names match exactly.
//
// A serial or lineage that is absent or null is zero or empty, as it is in the client
// when it reads the state. One that is no plain integer within uint64, or no string of up
// to 255 characters, is refused: a client can't have written it. So is a body with one of
// the members twice, because readers differ in which one wins. The version of Terraform
// only informs people: one that is no such string counts as empty. A LockInfo, which is an object
// with an ID and no members but LockInfo's, is refused: a client sent it to a wrong lock_address.
//
// Every error is a [*fault.Error] with fault.StateInvalid. It says what is wrong and at
// which byte offset, and never shows the body's content, which holds secrets.
func Scan(body []byte) (Summary, error) {
	if len(body) == 0 {
		return Summary{}, fault.New(fault.StateInvalid, "the body is empty; a state is one JSON object")
	}
	var f fields
	if err := jsonscan.Object(body, jsonscan.Limits{}, f.member); err != nil {
		return Summary{}, stateInvalid(err)
	}
	if f.lockID && !f.other {
		return Summary{}, fault.New(fault.StateInvalid, "the body is a LockInfo and no state: give the client a lock_address "+
			"that is the state's address with /lock at its end, or the state's address with lock_method = \"LOCK\"")
	}
	f.summary.Encrypted = f.encryptedData && !f.plain
	return f.summary, nil
}

// stateInvalid makes the scanner's error a fault that names the offset and the reason.
func stateInvalid(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[*jsonscan.SyntaxError](err); ok {
		return fault.New(fault.StateInvalid, "the body is not valid JSON: %s at byte offset %d", e.Reason, e.Offset)
	}
	if e, ok := errors.AsType[*jsonscan.NotObjectError](err); ok {
		return fault.New(fault.StateInvalid, "the body is not a JSON object: %s starts at byte offset %d", e.Kind, e.Offset)
	}
	return fault.Wrap(err, fault.StateInvalid, "the body is not a state")
}

// fields collects the members of a body.
type fields struct {
	summary Summary
	// Which members were there, be it as null.
	serialSeen, lineageSeen, versionSeen, encryptedSeen bool

	encryptedData bool
	plain         bool // has a member that encrypted states lack

	lockID bool // has LockInfo's ID
	other  bool // has a member that LockInfo lacks
}

// member takes one member of the top-level object. Conversions of key for the comparison
// allocate nothing.
func (f *fields) member(key, value []byte) error {
	switch string(key) {
	case "ID":
		f.lockID = true
		return nil
	case "Operation", "Info", "Who", "Version", "Created", "Path":
		return nil
	}
	f.other = true
	switch string(key) {
	case "serial":
		return once(&f.serialSeen, "serial", value, f.serial)
	case "lineage":
		return once(&f.lineageSeen, "lineage", value, f.lineage)
	case "terraform_version":
		return once(&f.versionSeen, "terraform_version", value, f.terraformVersion)
	case "encrypted_data":
		return once(&f.encryptedSeen, "encrypted_data", value, f.encrypted)
	case "version", "resources":
		f.plain = true
	}
	return nil
}

// once refuses a second member of the same name, and passes over null.
func once(seen *bool, name string, value []byte, take func(value []byte) error) error {
	if *seen {
		return fault.New(fault.StateInvalid, "the state has more than one %q", name)
	}
	*seen = true
	if string(value) == "null" {
		return nil
	}
	return take(value)
}

func (f *fields) serial(value []byte) error {
	// The scanner has seen to the grammar: what consists of digits is a plain integer.
	for _, c := range value {
		if c < '0' || c > '9' {
			return fault.New(fault.StateInvalid, "the state's serial is not a plain integer of zero or more")
		}
	}
	serial, err := strconv.ParseUint(string(value[:min(len(value), maxDigits+1)]), 10, 64)
	if err != nil {
		return fault.New(fault.StateInvalid, "the state's serial does not fit in 64 bits")
	}
	f.summary.Serial = serial
	return nil
}

func (f *fields) lineage(value []byte) error {
	lineage, ok := text(value)
	if !ok {
		return fault.New(fault.StateInvalid, "the state's lineage is not a string of up to %d characters", maxText)
	}
	f.summary.Lineage = lineage
	return nil
}

func (f *fields) terraformVersion(value []byte) error {
	f.summary.TerraformVersion, _ = text(value)
	return nil
}

func (f *fields) encrypted([]byte) error {
	f.encryptedData = true
	return nil
}

// text copies a JSON string of up to maxText characters.
func text(value []byte) (string, bool) {
	// A character takes twelve bytes at most: a surrogate pair of escapes. What is longer
	// need not be unquoted first.
	if len(value) > len(`""`)+12*maxText {
		return "", false
	}
	unquoted, ok := jsonscan.Unquote(value)
	if !ok || utf8.RuneCount(unquoted) > maxText {
		return "", false
	}
	return string(unquoted), true
}
