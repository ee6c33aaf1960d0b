package document

// pair is the same object in two states; nil on the side that lacks it.
type pair struct{ before, after *Instance }

// pairs matches the instances of two states: by place, then those that have moved. They
// are in the order of the place after, or before where there is none after. Its error is the
// meter's.
func pairs(a, b *Document, in *meter) ([]pair, error) {
	if err := in.add(pairBytes * int64(len(a.Instances)+len(b.Instances))); err != nil {
		return nil, err
	}
	all := byPlace(a, b)
	moved := movesOf(a, b, all, in)
	if err := in.failed(); err != nil || len(moved) == 0 {
		return all, err
	}
	from := map[*Instance]bool{}
	kept := all[:0]
	for _, p := range all {
		if before := moved[p.after]; p.before == nil && before != nil {
			p.before = before
			from[before] = true
		}
		kept = append(kept, p)
	}
	all, kept = kept, kept[:0]
	for _, p := range all {
		if p.after != nil || !from[p.before] {
			kept = append(kept, p)
		}
	}
	return kept, nil
}

// byPlace merges two sorted lists of instances.
func byPlace(a, b *Document) []pair {
	all := make([]pair, 0, max(len(a.Instances), len(b.Instances)))
	i, j := 0, 0
	for i < len(a.Instances) || j < len(b.Instances) {
		order := 0
		switch {
		case i == len(a.Instances):
			order = 1
		case j == len(b.Instances):
			order = -1
		default:
			order = a.Instances[i].compare(b.Instances[j].Place)
		}
		var p pair
		if order <= 0 {
			p.before = &a.Instances[i]
			i++
		}
		if order >= 0 {
			p.after = &b.Instances[j]
			j++
		}
		all = append(all, p)
	}
	return all
}
