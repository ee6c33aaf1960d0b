package state

import "strings"

// Warnings is a set of guards' findings.
type Warnings uint16

// The guards' findings. Stores keep them by their names.
const (
	WarnEmptied    Warnings = 1 << iota // no resources left, without a destroy
	WarnShrunk                          // fewer resources by more than the share
	WarnLineage                         // another lineage than before
	WarnSerialBack                      // a smaller serial than before
	WarnSerialSame                      // the same serial with other content
	WarnOlderTool                       // a smaller terraform_version than before
	WarnDecrypted                       // plain where it was encrypted before
	WarnNoLineage                       // a first version without a lineage
	WarnSerialJump                      // a serial that nobody can have counted up to
)

// numWarnings is how many findings there are.
const numWarnings = 9

// warningNames are the names of the findings, in the order of their bits.
func warningNames() [numWarnings]string {
	return [numWarnings]string{"emptied", "shrunk", "lineage_changed", "serial_back", "serial_reused", "older_terraform",
		"encryption_ended",
		"no_lineage", "serial_jump"}
}

// ParseWarnings reads what String wrote; names that it doesn't know are passed over.
func ParseWarnings(text string) Warnings {
	var w Warnings
	for i, name := range warningNames() {
		for part := range strings.SplitSeq(text, ", ") {
			if part == name {
				w |= 1 << i
			}
		}
	}
	return w
}

// List returns the names of the findings.
func (w Warnings) List() []string {
	var names []string
	for i, name := range warningNames() {
		if w&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String returns the names, joined by ", "; empty without any.
func (w Warnings) String() string { return strings.Join(w.List(), ", ") }
