package state

// What Store.Usage counts beside the bytes of bodies.
const (
	// RowBytes is about what a row takes that describes a state, a version or a candidate.
	RowBytes = 512
	// FreeLockBytes of a LockInfo are in a state's RowBytes: clients send about 300.
	FreeLockBytes = 1024
)

// LockBytes is what a held lock counts, nil for none: twice what its LockInfo has beyond
// FreeLockBytes, because stores keep it as it came and its fields.
func LockBytes(l *Lock) int64 {
	if l == nil {
		return 0
	}
	return 2 * max(int64(len(l.Info.Raw))-FreeLockBytes, 0)
}

// Grows reports whether the change stores a body or grants a lock, so that Allow is asked.
// body is how many bytes of a body are stored; below zero for none: a candidate may be there.
func (c Change) Grows(body int64) bool { return body >= 0 || c.Lock != nil }

// Adds is what a change that Grows adds to Store.Usage: isNew says that the state has no row
// yet, before is the lock that it takes the place of, and body how many bytes of a body are
// stored; below zero for none.
func (c Change) Adds(isNew bool, before *Lock, body int64) int64 {
	var added int64
	if isNew {
		added += RowBytes
	}
	if body >= 0 {
		added += RowBytes + body
	}
	if c.Lock != nil {
		added += LockBytes(c.Lock) - LockBytes(before)
	}
	return added
}
