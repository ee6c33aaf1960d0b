package gitmirror

import "context"

// maxLooked is how many changes of submodules one reading goes into: each takes some processes.
const maxLooked = 500

// diving goes on in submodules, where the mirror is one with submodules.
type diving struct {
	m    *Mirror
	left int // of maxLooked
}

func (m *Mirror) diving() *diving { return &diving{m, maxLooked} }

// inside adds to changes those within submodules whose commits are there. Of a submodule that is new, or whose commit
// before is not there, all is new. Where that gets too much, more says so.
func (d *diving) inside(ctx context.Context, changes []Change, more bool, most, depth int) ([]Change, bool, error) {
	if !d.m.o.inside || depth == maxNesting {
		return changes, more, nil
	}
	for _, c := range changes[:len(changes):len(changes)] {
		if c.was == "" && c.is == "" {
			continue
		}
		if len(changes) >= most || d.left == 0 {
			return changes, true, nil
		}
		d.left--
		found, cut, err := d.within(ctx, c, most-len(changes), depth)
		if err != nil {
			return nil, false, err
		}
		changes, more = append(changes, found...), more || cut
	}
	return changes, more, nil
}

// within are the changes in one submodule.
func (d *diving) within(ctx context.Context, c Change, most, depth int) (found []Change, more bool, err error) {
	from, to, gone := c.was, c.is, false
	if to == "" {
		from, to, gone = "", c.was, true
	}
	for _, end := range []*string{&from, &to} {
		if *end != "" {
			if there, err := d.m.Has(ctx, *end); err != nil {
				return nil, false, err
			} else if !there {
				*end = ""
			}
		}
	}
	if to == "" {
		return nil, false, nil
	}
	if found, more, err = d.m.diff(ctx, from, to, most); err != nil {
		return nil, false, err
	}
	if found, more, err = d.inside(ctx, found, more, most, depth+1); err != nil {
		return nil, false, err
	}
	for i := range found {
		found[i].Path = c.Path + "/" + found[i].Path
		if gone {
			found[i].Status, found[i].Mode = 'D', 0
		}
	}
	return found, more, nil
}
