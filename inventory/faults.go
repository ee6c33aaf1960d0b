package inventory

import (
	"fmt"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// faults collects what is wrong with an upload: all of it, so that it can be mended in
// one go. It knows places and rules, never values, which may be secret.
type faults struct {
	listed []fault.Detail
	count  int
}

func (f *faults) add(path jsonscan.Path, rule string, args ...any) {
	if f.more() {
		f.list(path.Pointer(), rule, args...)
	}
}

// addAt is add for what is missing, and so has no path.
func (f *faults) addAt(pointer, rule string, args ...any) {
	if f.more() {
		f.list(pointer, rule, args...)
	}
}

// more counts a fault, and reports whether it is to be listed.
func (f *faults) more() bool {
	f.count++
	return f.count <= maxFaults
}

func (f *faults) list(pointer, rule string, args ...any) {
	f.listed = append(f.listed, fault.Detail{Pointer: pointer, Rule: fmt.Sprintf(rule, args...)})
}

// err is a fault.UploadInvalid, or nil when nothing is wrong.
func (f *faults) err() error {
	if f.count == 0 {
		return nil
	}
	message := "the upload breaks a rule; nothing was stored"
	switch {
	case f.count > maxFaults:
		message = fmt.Sprintf("the upload breaks rules in %d places, of which the first %d are listed; nothing was stored",
			f.count, maxFaults)
	case f.count > 1:
		message = fmt.Sprintf("the upload breaks rules in %d places; nothing was stored", f.count)
	}
	err := fault.New(fault.UploadInvalid, "%s", message)
	err.Details = f.listed
	return err
}
