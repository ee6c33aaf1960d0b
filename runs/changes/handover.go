package changes

import (
	"errors"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
)

// taker is given a plan's JSON in its order: values that are held whole, and the brackets and names around them.
// What it is given is good until it returns.
type taker interface {
	takeToken(token jsontext.Token) error
	takeValue(kind kind, name string, value jsontext.Value) error
}

// handover brings what was read to a taker, which works beside the reader. Two batches go to and fro, so that the
// reader is never far ahead and memory is bounded by what they hold: a batch ends with the value that fills it.
type handover struct {
	now         *batch
	full, empty chan *batch
	failed      atomic.Bool
	done        chan outcome
}

// outcome is what became of the taker: an error, and up to where the JSON was read then, or a panic.
type outcome struct {
	ended bool // before it had taken all
	at    int64
	err   error
	panic any
}

// batchBytes is how much of a plan is handed over at once, a value of any size at its end.
const batchBytes = 128 << 10

// errStopped is what a reader gets whose taker takes no more; end says why.
var errStopped = errors.New("what was read is not taken any more")

func newHandover(to taker) *handover {
	h := &handover{now: &batch{}, full: make(chan *batch), empty: make(chan *batch, 2),
		done: make(chan outcome, 1)}
	h.empty <- &batch{}
	go h.run(to)
	return h
}

func (h *handover) token(token jsontext.Token, at int64) error {
	h.now.steps = append(h.now.steps, handed{token: token, at: at})
	return h.pass()
}

func (h *handover) value(kind kind, name string, value []byte, at int64) error {
	start := len(h.now.text)
	h.now.text = append(h.now.text, value...)
	h.now.steps = append(h.now.steps, handed{isValue: true, kind: kind, name: name,
		start: start, end: len(h.now.text), at: at})
	return h.pass()
}

// pass hands a batch over that is full.
func (h *handover) pass() error {
	if len(h.now.text)+64*len(h.now.steps) < batchBytes {
		return nil
	}
	if h.failed.Load() {
		return errStopped
	}
	h.full <- h.now
	h.now = <-h.empty
	return nil
}

// end hands over what is left, and returns the taker's error when it has taken all, with the offset that it belongs to.
func (h *handover) end() (at int64, err error) {
	h.full <- h.now
	close(h.full)
	last := <-h.done
	if last.panic != nil {
		panic(last.panic) // where the caller's own would be
	}
	return last.at, last.err
}

// run gives batches to the taker until there are no more, or until it fails; then it lets them go by.
func (h *handover) run(to taker) {
	var last outcome
	for b := range h.full {
		if !last.ended {
			last = b.give(to)
			h.failed.Store(last.ended)
		}
		b.reset()
		h.empty <- b
	}
	h.done <- last
}

// batch is a piece of a plan's JSON: steps, and the text of those that are values.
type batch struct {
	steps []handed
	text  []byte
}

// handed is a token, or a value.
type handed struct {
	token      jsontext.Token
	isValue    bool
	kind       kind
	name       string
	start, end int   // of the value's text in the batch
	at         int64 // the offset behind it
}

// give gives the batch to a taker, as far as that takes it.
func (b *batch) give(to taker) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{ended: true, panic: p}
		}
	}()
	for _, s := range b.steps {
		var err error
		if s.isValue {
			err = to.takeValue(s.kind, s.name, b.text[s.start:s.end:s.end])
		} else {
			err = to.takeToken(s.token)
		}
		if err != nil {
			return outcome{ended: true, at: s.at, err: err}
		}
	}
	return outcome{}
}

// reset empties the batch, and lets go of the room that one large value took.
func (b *batch) reset() {
	clear(b.steps)
	b.steps, b.text = b.steps[:0], b.text[:0]
	if cap(b.text) > 4*batchBytes {
		b.text = nil
	}
}
