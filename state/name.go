package state

import (
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// MaxNameLength is the longest state name, in bytes (all allowed characters are ASCII).
const MaxNameLength = 255

// Name is a state's name within its organization: segments of ASCII letters, digits and
// `. _ - ~`, joined by "/", of which the last is not LockSegment. Only ParseName makes one from
// outside input.
type Name string

// LockSegment ends the address of a state's lock, and so no state's name: clients whose
// lock_address is the state's address with it at the end would store their LockInfo as a state.
const LockSegment = "lock"

// ParseName checks a name after URL decoding. The error is a fault.NameInvalid that says
// which rule is broken.
func ParseName(s string) (Name, error) {
	name, err := ParseFolder(s)
	if err == nil && (s == LockSegment || strings.HasSuffix(s, "/"+LockSegment)) {
		return "", fault.New(fault.NameInvalid, "the state name ends with the segment %q, which is not allowed: such an "+
			"address is that of the lock of the state before it", LockSegment)
	}
	return name, err
}

// ParseFolder checks what stands before names of states: it has their form, and its last segment
// may be any.
func ParseFolder(s string) (Name, error) {
	if s == "" {
		return "", fault.New(fault.NameInvalid, "the state name is empty; give 1 to %d characters", MaxNameLength)
	}
	if len(s) > MaxNameLength {
		return "", fault.New(fault.NameInvalid, "the state name has %d bytes; at most %d are allowed", len(s), MaxNameLength)
	}
	for segment := range strings.SplitSeq(s, "/") {
		if err := checkSegment(segment); err != nil {
			return "", err
		}
	}
	return Name(s), nil
}

// ParseSegment is ParseName for a name that must not contain "/", such as the two halves
// of a partition address.
func ParseSegment(s string) (Name, error) {
	if strings.Contains(s, "/") {
		return "", fault.New(fault.NameInvalid, "an enclave or partition name must not contain \"/\"")
	}
	return ParseName(s)
}

func checkSegment(segment string) error {
	switch segment {
	case "":
		return fault.New(fault.NameInvalid,
			"the state name has an empty segment: it starts or ends with \"/\", or has \"//\" in it")
	case ".", "..":
		return fault.New(fault.NameInvalid, "the state name has the segment %q, which is not allowed", segment)
	}
	for i := range len(segment) {
		if !nameByte(segment[i]) {
			return fault.New(fault.NameInvalid,
				"the state name has a character that is not allowed (byte %#02x); use letters, digits and . _ - ~, with / "+
					"between segments", segment[i])
		}
	}
	return nil
}

func nameByte(b byte) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		return true
	}
	return b == '.' || b == '_' || b == '-' || b == '~'
}
