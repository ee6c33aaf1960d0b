package gitmirror

import "context"

// inside adds to changes those within submodules, where the mirror is one with submodules and has their commits. Of a
// submodule that is new, or whose commit before is not there, all is new.
func (m *Mirror) inside(ctx context.Context, changes []Change, more bool, most, depth int) ([]Change, bool, error) {
	if !m.o.inside || depth == maxNesting {
		return changes, more, nil
	}
	for _, c := range changes[:len(changes):len(changes)] {
		if c.was == "" && c.is == "" || len(changes) >= most {
			continue
		}
		found, cut, err := m.within(ctx, c, most-len(changes), depth)
		if err != nil {
			return nil, false, err
		}
		changes, more = append(changes, found...), more || cut
	}
	return changes, more, nil
}

// within are the changes in one submodule.
func (m *Mirror) within(ctx context.Context, c Change, most, depth int) (found []Change, more bool, err error) {
	from, to, gone := c.was, c.is, false
	if to == "" {
		from, to, gone = "", c.was, true
	}
	for _, end := range []*string{&from, &to} {
		if *end != "" {
			if there, err := m.Has(ctx, *end); err != nil {
				return nil, false, err
			} else if !there {
				*end = ""
			}
		}
	}
	if to == "" {
		return nil, false, nil
	}
	if found, more, err = m.diff(ctx, from, to, most); err != nil {
		return nil, false, err
	}
	if found, more, err = m.inside(ctx, found, more, most, depth+1); err != nil {
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
