//go:build !race

package suite

// UnderRace says that the race detector looks on.
const UnderRace = false
