package mask

import (
	"math"
	"slices"

	"github.com/holdfast/holdfast/internal/ansi"
)

// mostSkipped is how many bytes of escape sequences there may be before secrets are no longer looked for across
// them.
const mostSkipped = 4 << 10

// jsonEscape is how JSON writes the byte that escape sequences begin with.
const jsonEscape = `\u001b`

const escape = 0x1b

// beginsSequence reports whether an escape sequence may begin with the byte, as it is or in JSON.
func beginsSequence(b byte) bool { return b == escape || b == '\\' }

// joined is the state of the text without its escape sequences. It is there from a sequence on until it is that of
// the text as it comes again. Positions are those in what is held.
type joined struct {
	active  bool
	state   int32
	scan    ansi.Scanner
	kept    []int  // where the last bytes are that are no sequence's, at least as many as the state stands for
	pending []byte // the beginning of jsonEscape
	begin   int    // of what the state stood for when it began to differ
	skipped int    // bytes of sequences since then
	seen    int    // bytes since then
}

// take takes a byte. Before and after are the states of the text as it comes. It calls add for each secret that
// has a sequence within.
func (j *joined) take(a *automaton, before, after int32, b byte, at int, add func(found)) {
	if !j.active {
		depth := int(a.states[before].depth)
		*j = joined{active: true, state: before, kept: j.kept[:0], pending: j.pending[:0], begin: at - depth}
		for i := at - depth; i < at; i++ {
			j.kept = append(j.kept, i)
		}
	}
	j.seen++
	if j.inJSON(b) {
		if len(j.pending) == len(jsonEscape) {
			j.pending = j.pending[:0]
			j.skipped += len(jsonEscape)
			j.scan.Keeps(escape)
		}
		return
	}
	for i, was := range j.pending { // no escape after all
		j.keep(a, was, at-len(j.pending)+i, add)
	}
	j.pending = j.pending[:0]
	if j.inJSON(b) {
		return
	}
	j.keep(a, b, at, add)
	j.end(a, after, at)
}

// inJSON reports whether the byte goes on with jsonEscape, and then keeps it.
func (j *joined) inJSON(b byte) bool {
	next := jsonEscape[len(j.pending)]
	if b != next && (next != 'b' || b != 'B') || len(j.pending) == 0 && !j.scan.InText() {
		return false
	}
	j.pending = append(j.pending, b)
	return true
}

// keep takes a byte that is no beginning of jsonEscape.
func (j *joined) keep(a *automaton, b byte, at int, add func(found)) {
	if !j.scan.Keeps(b) {
		j.skipped++
		return
	}
	j.state = a.next(j.state, b)
	depth := int(a.states[j.state].depth)
	j.kept = append(j.kept, at)
	if over := len(j.kept) - depth; over > depth+64 {
		j.kept = slices.Delete(j.kept, 0, over)
	}
	match := int(a.states[j.state].match)
	if match > 0 && j.kept[len(j.kept)-match] != at+1-match {
		add(found{max(j.kept[len(j.kept)-match], 0), at + 1})
	}
}

// end ends it where it is the text as it comes again, or where that takes too long.
func (j *joined) end(a *automaton, after int32, at int) {
	depth := int(a.states[j.state].depth)
	same := j.state == after && j.scan.InText() && (depth == 0 || j.kept[len(j.kept)-depth] == at+1-depth)
	if same || j.skipped > mostSkipped || j.seen > 2*a.longest+2*mostSkipped {
		j.active = false
	}
}

// open is where the first byte is that what follows may make one of a secret.
func (j *joined) open(a *automaton) int {
	if depth := int(a.states[j.state].depth); j.active && depth > 0 {
		return j.kept[len(j.kept)-depth]
	}
	return math.MaxInt
}

// begun is from where on it would be as it is.
func (j *joined) begun() int {
	if j.active {
		return j.begin
	}
	return math.MaxInt
}

// move says that so many bytes of what was held are gone.
func (j *joined) move(gone int) {
	if !j.active {
		return
	}
	j.begin -= gone
	for i := range j.kept {
		j.kept[i] -= gone
	}
}
