package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Faults is everything that is wrong with a configuration.
type Faults struct{ List []Fault }

// Fault is one thing that is wrong.
type Fault struct {
	// Place is where to look: a file with section and key or line, an environment
	// variable, or a flag.
	Place string
	// Reason never shows the value of a secret.
	Reason string
}

func (f Fault) String() string { return f.Place + ": " + f.Reason }

// Error lists the faults, one per line.
func (f *Faults) Error() string {
	lines := make([]string, len(f.List))
	for i, one := range f.List {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

func (f *Faults) add(place, format string, args ...any) {
	f.List = append(f.List, Fault{Place: place, Reason: fmt.Sprintf(format, args...)})
}

// addValue records that a setting's value is not what it should be.
func (f *Faults) addValue(place string, s setting, text string, err error) {
	if s.secret {
		f.add(place, "the value %v", err)
		return
	}
	f.add(place, "%q %v", text, err)
}

// orNil keeps an empty list from becoming an error that is not nil.
func (f *Faults) orNil() error {
	if len(f.List) == 0 {
		return nil
	}
	return f
}

// cause strips operation and path from a file error: the place names the file already.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
