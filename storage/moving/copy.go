package moving

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// Progress is told of a copy: how many more records of a table were compared, and how many of
// those were changed at the target.
type Progress func(table string, compared, changed int)

// Copy makes a target's records those of a source: it drops what the source has not, and puts what
// the target has not or has otherwise. Bodies are compared by their marks, or, where read is set, by all
// of their bytes. It may be broken off anywhere, and called again.
func Copy(ctx context.Context, from, to Side, read bool, tell Progress) error {
	how := marked
	if read {
		how = whole
	}
	dropped := func(table string, _, changed int) { tell(table, 0, changed) } // records are compared twice
	for i := len(to.Shapes) - 1; i >= 0; i-- {                                // what belongs to something goes before it
		there, err := to.Count(ctx, to.Shapes[i])
		if err != nil {
			return err
		}
		if there == 0 {
			continue
		}
		if err := each(ctx, from, to, i, marked, dropper{to}.step, dropped); err != nil {
			return err
		}
	}
	for i := range to.Shapes {
		if err := each(ctx, from, to, i, how, putter{from, to}.step, tell); err != nil {
			return err
		}
	}
	return nil
}

// pair is a key with the record of each side; nil where there is none.
type pair struct{ source, target Row }

// step decides about a pair.
type step func(ctx context.Context, b *batch, source Shape, p pair) (changed bool, err error)

// dropper takes away what the source has not.
type dropper struct{ to Side }

func (dropper) step(_ context.Context, b *batch, _ Shape, p pair) (changed bool, err error) {
	if p.target != nil && p.source == nil {
		b.drops = append(b.drops, b.shape.key(p.target))
		return true, nil
	}
	return false, nil
}

// putter puts what differs.
type putter struct{ from, to Side }

func (c putter) step(ctx context.Context, b *batch, source Shape, p pair) (changed bool, err error) {
	if p.source == nil || p.target != nil && compare(p.source, p.target) == 0 {
		return false, nil
	}
	row := p.source
	if source.Body != "" {
		if row, err = c.from.fetch(ctx, source, source.key(row)); row == nil || err != nil {
			return false, err
		}
	}
	b.put(row, p.target != nil)
	return true, nil
}

// tellEvery is after how many records Progress hears of them at the latest.
const tellEvery = 500

// each takes a step for each pair of a table.
func each(ctx context.Context, from, to Side, i int, how depth, do step, tell Progress) error {
	source, target := from.Shapes[i], to.Shapes[i]
	if err := alike(source.Table, target.Table); err != nil {
		return err
	}
	b := &batch{shape: target}
	compared, changed := 0, 0
	told := func() {
		tell(target.Name, compared, changed)
		compared, changed = 0, 0
	}
	for p, err := range pairs(ctx, from, to, i, how) {
		if err != nil {
			return err
		}
		did, err := do(ctx, b, source, p)
		if err == nil && b.full() {
			err = b.send(ctx, to)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", target.Name, err)
		}
		if compared++; did {
			changed++
		}
		if compared == tellEvery || did && source.Body != "" {
			told()
		}
	}
	if err := b.send(ctx, to); err != nil {
		return fmt.Errorf("copy %s: %w", target.Name, err)
	}
	told()
	return nil
}

// alike refuses sides whose records are not of the same columns.
func alike(a, b Table) error {
	if a.Name != b.Name || !slices.Equal(names(a), names(b)) {
		return fmt.Errorf("moving: the table %s of one side is not the table %s of the other", a.Name, b.Name)
	}
	return nil
}

func names(t Table) (all []string) {
	for _, c := range slices.Concat(t.Key, t.Rest) {
		all = append(all, c.Name)
	}
	return append(all, fmt.Sprint(len(t.Key)), t.Body)
}

// pairs walks both sides together.
func pairs(ctx context.Context, from, to Side, i int, how depth) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		nextSource, stopSource := iter.Pull2(from.rows(ctx, from.Shapes[i], how))
		defer stopSource()
		nextTarget, stopTarget := iter.Pull2(to.rows(ctx, to.Shapes[i], how))
		defer stopTarget()
		source, sourceErr, _ := nextSource()
		target, targetErr, _ := nextTarget()
		for source != nil || target != nil || sourceErr != nil || targetErr != nil {
			if sourceErr != nil || targetErr != nil {
				yield(pair{}, firstOf(sourceErr, targetErr))
				return
			}
			var p pair
			order := ordered(from.Shapes[i].Table, source, target)
			if order <= 0 {
				p.source = source
				source, sourceErr, _ = nextSource()
			}
			if order >= 0 {
				p.target = target
				target, targetErr, _ = nextTarget()
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// ordered compares keys; a side that has no more records comes last.
func ordered(t Table, source, target Row) int {
	switch {
	case source == nil:
		return 1
	case target == nil:
		return -1
	}
	return compare(t.key(source), t.key(target))
}
