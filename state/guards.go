package state

import (
	"strconv"
	"strings"
)

// guards returns what is suspicious about next as the successor of h's newest version. About
// a state's first version that is little: what every client writes is missing, or a serial
// that nobody has counted up to.
func guards(h Head, next Version, shrinkPercent int) Warnings {
	var found Warnings
	add := func(w Warnings, when bool) {
		if when {
			found |= w
		}
	}
	if !h.Exists() {
		add(WarnNoLineage, next.Lineage == "")
		add(WarnSerialJump, jumps(0, next.Serial))
		return found
	}
	old, before := h.Version, uint64(0) // another lineage begins to count again
	if old.Lineage == next.Lineage {
		before = old.Serial
	}
	if !destroys(h.Lock) {
		emptied := empties(old, next)
		add(WarnEmptied, emptied)
		add(WarnShrunk, !emptied && shrunk(old.Resources, next.Resources, shrinkPercent))
	}
	add(WarnLineage, old.Lineage != next.Lineage && old.Lineage != "")
	add(WarnSerialBack, old.Lineage == next.Lineage && next.Serial < old.Serial)
	add(WarnSerialSame, reusesSerial(h, next))
	add(WarnSerialJump, jumps(before, next.Serial))
	add(WarnOlderTool, older(next.TerraformVersion, old.TerraformVersion))
	add(WarnDecrypted, old.Encrypted && !next.Encrypted)
	return found
}

// reusesSerial reports whether next has the newest version's serial, and other content.
func reusesSerial(h Head, next Version) bool {
	old := h.Version
	return h.Exists() && old.Lineage == next.Lineage && next.Serial == old.Serial && !sameContent(old, next)
}

// empties reports whether none of a state's resources are left that could be counted. What
// is plain and can't be counted is no state of today's clients: it counts as one without
// resources where some were, and as one with some where none are any more.
func empties(old, next Version) bool {
	switch {
	case old.uncountable():
		return next.Resources == 0
	case next.uncountable():
		return old.Resources > 0
	}
	return old.Resources > 0 && next.Resources == 0
}

// uncountable reports whether a version's resources are unknown although it is plain. One whose bytes are destroyed
// has none any more: that must keep nobody from writing a good one.
func (v Version) uncountable() bool { return v.Resources < 0 && !v.Encrypted && !v.Purged }

// opStateRm is what clients lock for in `state rm`, whose one purpose is to have fewer resources in
// the state.
const opStateRm = "state-rm"

// destroys reports whether the lock's holder says that it takes resources away. Today's clients
// call a destroy an apply, like everything else that changes things; wrappers and older ones say so.
func destroys(lock *Lock) bool {
	return lock != nil && (lock.Info.Operation == opStateRm ||
		strings.Contains(strings.ToLower(lock.Info.Operation), "destroy"))
}

// shrunk reports whether more than the share of a state's resources is gone. A count that
// is not known, below zero, says nothing.
func shrunk(before, after, percent int) bool {
	return before > 0 && after >= 0 && (before-after)*100 > before*percent
}

// older reports whether a is a smaller version than b, by their numbers alone: "1.5.7" is
// smaller than "1.12.0". What is no such version is not compared.
func older(a, b string) bool {
	x, xOK := numbers(a)
	y, yOK := numbers(b)
	if !xOK || !yOK {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

func numbers(version string) (parts [3]int, ok bool) {
	version, _, _ = strings.Cut(version, "-") // a pre-release counts as the release
	fields := strings.Split(version, ".")
	if len(fields) != len(parts) {
		return parts, false
	}
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 {
			return parts, false
		}
		parts[i] = n
	}
	return parts, true
}
