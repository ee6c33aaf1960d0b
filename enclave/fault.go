package enclave

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a folder.
type Fault struct {
	File string `json:"file"` // within the folder
	Line int    `json:"line"` // from 1; 0 for the file as a whole
	Text string `json:"text"`
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// Faults are all that is wrong with a folder, by file and line.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// orNil is the error that these faults are, if there are any.
func (f Faults) orNil() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	return f
}
