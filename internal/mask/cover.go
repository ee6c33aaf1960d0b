package mask

import (
	"io"
	"slices"
)

// star covers one byte of a secret.
const star = '*'

// Covered is a text whose secrets are covered where they stand.
type Covered struct {
	// Text is as long as what was given: each byte of a secret is a star.
	Text []byte
	// Context is how many of the last bytes that were given have to be given again, in front of
	// those that follow.
	Context int
	// Open is how many of the last bytes may turn out to be of a secret by what follows; it is at
	// most Context. Those before are what they are, whatever comes.
	Open int
}

// Cover covers the secrets of a text and keeps its length, for texts in which bytes are addressed
// by their offset. A text that comes in pieces is covered piece by piece: each is given behind
// the Context of what came before, and then the last Open bytes of that are to be replaced too.
// The first bytes, as many as are decided, are those of the Context that are not open: what they are
// was found with what came before them. What comes out is the same however the text is cut.
func (m *Masker) Cover(text []byte, decided int) Covered {
	w := writer{automaton: m.automaton}
	w.look(text)
	out := w.held
	begun := min(len(text)-int(m.automaton.states[w.state].depth), w.joined.begun())
	open := max(w.open(), decided)
	for _, f := range w.secret {
		for i := f.from; i < f.to; i++ {
			out[i] = star
		}
		if f.from <= open {
			open = max(open, f.to)
		}
	}
	return Covered{Text: out, Context: len(text) - begun, Open: len(text) - open}
}

// Covering returns a reader of what r has, with its secrets covered.
func (m *Masker) Covering(r io.Reader) io.Reader {
	return &covering{masker: m, from: r, buffer: make([]byte, chunk)}
}

type covering struct {
	masker  *Masker
	from    io.Reader
	buffer  []byte
	context []byte // as Covered has it
	open    int
	ready   []byte // not read yet
	err     error  // that follows
}

// Read implements io.Reader.
func (c *covering) Read(p []byte) (int, error) {
	for len(c.ready) == 0 && len(p) > 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.fill()
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

func (c *covering) fill() {
	var n int
	n, c.err = c.from.Read(c.buffer)
	text := slices.Concat(c.context, c.buffer[:n])
	covered := c.masker.Cover(text, len(c.context)-c.open)
	c.ready = covered.Text[len(c.context)-c.open:]
	if c.err == nil {
		c.ready = c.ready[:len(c.ready)-covered.Open]
	}
	c.context, c.open = text[len(text)-covered.Context:], covered.Open
}
