package sample

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// A template is text with holes: <#> is the resource's number, <17> are 17 random hex
// digits, and <!17> are such that change when the resource does.
type template []piece

type piece struct {
	text     string // what stands before the hole
	digits   int    // of the hole; 0 for the number, -1 at the template's end
	volatile bool
}

func parseTemplate(text string) (t template) {
	for {
		before, hole, found := strings.Cut(text, "<")
		if !found {
			return append(t, piece{text: text, digits: -1})
		}
		hole, text, _ = strings.Cut(hole, ">")
		digits, volatile := strings.CutPrefix(hole, "!")
		n, _ := strconv.Atoi(digits) // "#" has none
		t = append(t, piece{text: before, digits: n, volatile: volatile})
	}
}

// span is a part of a document that changes.
type span struct{ from, to int }

// document is text that remembers where its resources may change.
type document struct {
	body      []byte
	resources [][]span
	random    *rand.Rand
}

func newDocument(size int, seed uint64) document {
	return document{body: make([]byte, 0, size), random: rand.New(rand.NewPCG(seed, 0))}
}

// add appends a resource.
func (d *document) add(t template, number int) {
	var changing []span
	for _, p := range t {
		d.body = append(d.body, p.text...)
		switch {
		case p.digits == 0:
			d.body = strconv.AppendInt(d.body, int64(number), 10)
		case p.digits > 0:
			from := len(d.body)
			d.body = append(d.body, make([]byte, p.digits)...)
			d.fill(d.body[from:])
			if p.volatile {
				changing = append(changing, span{from, len(d.body)})
			}
		}
	}
	d.resources = append(d.resources, changing)
}

func (d *document) fill(hole []byte) {
	var bits uint64
	for i := range hole {
		if i%16 == 0 {
			bits = d.random.Uint64()
		}
		hole[i] = "0123456789abcdef"[bits&15]
		bits >>= 4
	}
}

// change gives a resource, chosen at random, new values.
func (d *document) change() {
	for _, s := range d.resources[d.random.IntN(len(d.resources))] {
		d.fill(d.body[s.from:s.to])
	}
}
