//go:build !race

package storagetest

// UnderRace says that the race detector looks on.
const UnderRace = false
