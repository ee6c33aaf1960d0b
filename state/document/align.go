package document

// match says that one element of a list is the same as one of another list, by their places.
type match struct{ before, after int }

// maxEdits is how many elements may have come and gone for the rest of two lists to be found
// again. What it costs to look grows with it, and so does the trace that is kept.
const maxEdits = 256

// effort is how many steps may still be spent on aligning lists, in all of one comparison. It is
// shared, so that many lists are no way around it. A nil effort has no bound.
type effort struct{ left int64 }

// maxEffort is what one comparison may spend; without it, a body of a few megabytes could keep a
// processor busy for minutes.
const maxEffort = 1 << 27

// spend reports whether there was enough left for n steps.
func (e *effort) spend(n int) bool {
	if e == nil {
		return true
	}
	e.left -= int64(n)
	return e.left >= 0
}

// align finds elements that two lists, given as keys, have in common and in the same order: as
// many as possible. Where more than maxEdits differ, or when the effort or the memory is at its
// end, only those at both ends are found.
func align(a, b []uint64, e *effort, in *meter) []match {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	all := make([]match, 0, head+tail)
	for i := range head {
		all = append(all, match{i, i})
	}
	for _, m := range common(a[head:len(a)-tail], b[head:len(b)-tail], e, in) {
		all = append(all, match{head + m.before, head + m.after})
	}
	for i := tail; i > 0; i-- {
		all = append(all, match{len(a) - i, len(b) - i})
	}
	return all
}

// common is the longest common subsequence, by Myers' "An O(ND) Difference Algorithm": d elements
// differ, and row d holds how far each diagonal gets with that. Row d has d+1 diagonals, since
// only every other one can be reached.
func common(a, b []uint64, e *effort, in *meter) []match {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	before := in.mark()
	defer in.backTo(before)
	var rows [][]int32
	for d := 0; d <= min(maxEdits, len(a)+len(b)); d++ {
		if in.add(4*int64(d+1)) != nil || !e.spend(d+1) {
			return nil
		}
		row := make([]int32, d+1)
		for t := range row {
			x := 0
			if d > 0 {
				x = into(rows[d-1], t)
			}
			from := x
			for y := x - diagonal(d, t); x < len(a) && y < len(b) && a[x] == b[y]; y++ {
				x++
			}
			row[t] = int32(x)
			if !e.spend(x - from) {
				return nil
			}
			if x >= len(a) && x-diagonal(d, t) >= len(b) {
				return walkBack(append(rows, row), t)
			}
		}
		rows = append(rows, row)
	}
	return nil
}

// diagonal is how much further one is in the first list than in the second, at a place of a row.
func diagonal(d, t int) int { return 2*t - d }

// into is how far one is in the first list where the place t of a row begins: behind an element
// that came, or one that went, whichever gets further.
func into(previous []int32, t int) int {
	switch {
	case t == 0:
		return int(previous[0])
	case t == len(previous) || previous[t-1] >= previous[t]:
		return int(previous[t-1]) + 1
	}
	return int(previous[t])
}

// walkBack collects the matches on the way to a place of the last row.
func walkBack(rows [][]int32, t int) []match {
	var all []match
	for d := len(rows) - 1; d >= 0; d-- {
		x, from := int(rows[d][t]), 0
		if d > 0 {
			from = into(rows[d-1], t)
		}
		for ; x > from; x-- {
			all = append(all, match{x - 1, x - 1 - diagonal(d, t)})
		}
		if d > 0 && (t == d || t > 0 && rows[d-1][t-1] >= rows[d-1][t]) {
			t--
		}
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}
