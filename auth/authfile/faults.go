package authfile

import (
	"fmt"
	"slices"
	"strings"
)

// maxFaults bounds what one refused file can make us print.
const maxFaults = 100

// Fault is one thing that is wrong with an auth.cfg. Problem never quotes the file: what
// stands in the wrong place may well be a key.
type Fault struct {
	Line    int // from 1; 0 for the file as a whole
	Problem string
}

// FileError is why an auth.cfg was refused: everything that is wrong with it, in the
// order of the lines.
type FileError struct {
	File    string // as the caller named it
	Faults  []Fault
	Omitted int // how many faults there are beyond Faults
}

// Error returns one line for each fault, "auth.cfg:7: …".
func (e *FileError) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.File)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": " + f.Problem)
	}
	if e.Omitted > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", e.File, e.Omitted)
	}
	return b.String()
}

func (e *FileError) add(line int, format string, args ...any) {
	if len(e.Faults) >= maxFaults {
		e.Omitted++
		return
	}
	e.Faults = append(e.Faults, Fault{line, fmt.Sprintf(format, args...)})
}

// sort puts the faults in the order of the lines: what a section lacks is only known at its
// end.
func (e *FileError) sort() {
	slices.SortStableFunc(e.Faults, func(a, b Fault) int { return a.Line - b.Line })
}

// orNil avoids a typed nil in an error interface.
func (e *FileError) orNil() error {
	if len(e.Faults) == 0 {
		return nil
	}
	return e
}

func refuseWhole(file, format string, args ...any) error {
	e := &FileError{File: file}
	e.add(0, format, args...)
	return e
}
