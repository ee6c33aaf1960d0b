package document

import (
	"bytes"
	"hash/maphash"
)

const (
	// maxLines is how many lines a text may have to be compared line by line.
	maxLines = 20_000
	// contextLines is how many lines are shown on both sides of what differs.
	contextLines = 3
	// maxShownLines is how many lines are shown of one text; the JSON has all of it.
	maxShownLines = 400
	// lineBytes is what comparing takes for a line, beside the line.
	lineBytes = 128
)

// lines writes how two texts of several lines differ, line by line, in the manner of a unified
// diff. It reports whether the values are such texts.
func (r *renderer) lines(indent, name string, c Change) bool {
	if c.Before[0] != '"' || c.After[0] != '"' || !hasLines(c.Before) && !hasLines(c.After) {
		return false
	}
	taken := r.in.mark()
	defer r.in.backTo(taken)
	if r.in.add(int64(len(c.Before)+len(c.After))+lineBytes*int64(lineCount(c.Before)+lineCount(c.After))) != nil {
		return true // of a text that ends here
	}
	a, endsA := splitLines(textOf(c.Before))
	b, endsB := splitLines(textOf(c.After))
	if len(a) > maxLines || len(b) > maxLines {
		return false
	}
	r.line("%s%s %s =", indent, r.mark(Changed), printable(name))
	r.text(indent+"    ", mergeLines(a, b, r.align(a, b)))
	switch {
	case endsA && !endsB:
		r.line("%s      # the line break at the end is gone", indent)
	case endsB && !endsA:
		r.line("%s      # a line break at the end is new", indent)
	}
	return true
}

// hasLines reports whether a string has a line break that is not at its end.
func hasLines(raw []byte) bool {
	i := bytes.Index(raw, []byte(`\n`))
	return i >= 0 && i < len(raw)-len(`\n"`)
}

func lineCount(raw []byte) int { return 1 + bytes.Count(raw, []byte(`\n`)) }

// splitLines returns the lines of a text, and whether it ends with a line break.
func splitLines(text string) (lines [][]byte, ends bool) {
	lines = bytes.Split([]byte(text), []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		return lines[:last], last > 0
	}
	return lines, false
}

// align finds the lines that two texts have in common.
func (r *renderer) align(a, b [][]byte) []match {
	seed := maphash.MakeSeed()
	keys := func(lines [][]byte) []uint64 {
		all := make([]uint64, len(lines))
		for i, line := range lines {
			all[i] = maphash.Bytes(seed, line)
		}
		return all
	}
	return align(keys(a), keys(b), &r.effort, r.in)
}

// textLine is one of two texts that are shown as one.
type textLine struct {
	action Action // empty for a line of both
	text   []byte
}

// mergeLines returns the lines of two texts in one order: what went before what came.
func mergeLines(a, b [][]byte, same []match) (all []textLine) {
	at := match{}
	for _, next := range append(same, match{len(a), len(b)}) {
		for ; at.before < next.before; at.before++ {
			all = append(all, textLine{Removed, a[at.before]})
		}
		for ; at.after < next.after; at.after++ {
			all = append(all, textLine{Added, b[at.after]})
		}
		if next.before < len(a) {
			all = append(all, textLine{text: a[next.before]})
		}
		at = match{next.before + 1, next.after + 1}
	}
	return all
}

// text writes what differs, with some lines around it.
func (r *renderer) text(indent string, all []textLine) {
	shown, passed := 0, 0
	for i, line := range all {
		if !nearChange(all, i) {
			passed++
			continue
		}
		if shown++; shown > maxShownLines {
			r.line("%s  # and %d more lines", indent, len(all)-i)
			return
		}
		r.passed(indent, passed)
		passed = 0
		sign := " "
		if line.action != "" {
			sign = r.mark(line.action)
		}
		r.line("%s%s %s", indent, sign, printable(string(line.text)))
	}
	r.passed(indent, passed)
}

// passed says how many lines are left out.
func (r *renderer) passed(indent string, n int) {
	if n > 0 {
		r.line("%s  # (%d more alike)", indent, n)
	}
}

// nearChange reports whether a line differs, or is next to one that does.
func nearChange(all []textLine, i int) bool {
	for _, line := range all[max(0, i-contextLines):min(len(all), i+contextLines+1)] {
		if line.action != "" {
			return true
		}
	}
	return false
}
