package mask

import (
	"io"
	"os"
)

// chunk is how much of a long write is looked at before what is clear of it is written.
const chunk = 32 << 10

// writer masks a stream.
type writer struct {
	automaton *automaton
	to        io.Writer
	state     int32
	joined    joined
	held      []byte  // what is not written yet
	secret    []found // what of held is known to be secret, in order, neither touching
	out       []byte
	stars     bool // the last that was written is a mask
	closed    bool
	err       error
}

// found is a part of held.
type found struct{ from, to int }

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, os.ErrClosed
	}
	for rest := p; len(rest) > 0 && w.err == nil; {
		n := min(len(rest), chunk)
		w.look(rest[:n])
		// What may be the beginning of a secret is what the state stands for, as far as no mask was
		// written for it already.
		w.release(w.open())
		rest = rest[n:]
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close writes what was held back: no more of it can become a secret.
func (w *writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.err == nil {
		w.release(len(w.held))
	}
	return w.err
}

// look adds text to what is held, and finds what is secret.
func (w *writer) look(text []byte) {
	a, at := w.state, len(w.held)
	w.held = append(w.held, text...)
	for i, b := range text {
		before := a
		a = w.automaton.next(a, b)
		end := at + i + 1
		if match := w.automaton.states[a].match; match > 0 {
			// It may begin in what a mask was written for already.
			w.add(found{max(end-int(match), 0), end})
		}
		if w.joined.active || beginsSequence(b) {
			w.joined.take(w.automaton, before, a, b, end-1, w.add)
		}
	}
	w.state = a
}

// open is where the first byte is that what follows may make one of a secret.
func (w *writer) open() int {
	open := len(w.held) - int(w.automaton.states[w.state].depth)
	return max(min(open, w.joined.open(w.automaton)), 0)
}

// add joins what was found to what it touches, and to all that was found before behind its beginning.
func (w *writer) add(f found) {
	for n := len(w.secret); n > 0 && w.secret[n-1].to >= f.from; n-- {
		f.from, f.to = min(f.from, w.secret[n-1].from), max(f.to, w.secret[n-1].to)
		w.secret = w.secret[:n-1]
	}
	w.secret = append(w.secret, f)
}

// release writes what is held up to clear, masked. A secret that goes on behind clear can only
// grow, so it is written too.
func (w *writer) release(clear int) {
	w.out = w.out[:0]
	done, gone := 0, 0
	for _, f := range w.secret {
		if f.from > clear {
			break
		}
		w.show(w.held[done:f.from])
		w.hide()
		done, gone = f.to, gone+1
	}
	if done < clear {
		w.show(w.held[done:clear])
		done = clear
	}
	w.secret = append(w.secret[:0], w.secret[gone:]...)
	for i := range w.secret {
		w.secret[i].from -= done
		w.secret[i].to -= done
	}
	w.joined.move(done)
	w.held = append(w.held[:0], w.held[done:]...)
	if len(w.out) > 0 {
		_, w.err = w.to.Write(w.out)
	}
}

func (w *writer) show(text []byte) {
	if len(text) > 0 {
		w.out, w.stars = append(w.out, text...), false
	}
}

// hide puts a mask, unless it would touch another one.
func (w *writer) hide() {
	if !w.stars {
		w.out, w.stars = append(w.out, stars...), true
	}
}
