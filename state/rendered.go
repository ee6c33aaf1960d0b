package state

import (
	"context"
	"io"

	"github.com/holdfast/holdfast/internal/budget"
)

// Rendered is an answer that was made of bodies. These are in memory only while it is made:
// what it takes itself goes as it is sent, however slowly, and with Close.
type Rendered struct {
	// Version is what it shows; the zero Version for a difference.
	Version Version

	hold budget.Hold
	text *budget.Buffer
}

// Len returns how many bytes it has.
func (r *Rendered) Len() int64 { return r.text.Len() }

// WriteTo implements io.WriterTo. It can be called once.
func (r *Rendered) WriteTo(w io.Writer) (int64, error) { return r.text.WriteTo(w) }

// Close gives back what is left of it. It may be called again.
func (r *Rendered) Close() { r.hold.Release() }

// look makes an answer out of bodies of so many bytes together. It waits for the memory of
// these and of answer bytes; if the answer, or what is made of the bodies on the way to it,
// gets larger, it acquires more or is refused.
// render lets go of the bodies when it returns. Its faults, and Overloaded, are look's.
func (s *Service) look(ctx context.Context, ref Ref, bodies, answer int64,
	render func(*budget.Buffer) error) (*Rendered, error) {
	r := &Rendered{hold: s.hold(ref)}
	if err := r.hold.Acquire(ctx, bodies+answer); err != nil {
		return nil, err
	}
	r.text = budget.NewBuffer(&r.hold, bodies)
	if err := renderInto(r, render); err != nil {
		return nil, err
	}
	r.text.Alone()
	return r, nil
}

// renderInto gives everything back also when render panics.
func renderInto(r *Rendered, render func(*budget.Buffer) error) (err error) {
	done := false
	defer func() {
		if !done || err != nil {
			r.Close()
		}
	}()
	err = render(r.text)
	done = true
	return err
}
