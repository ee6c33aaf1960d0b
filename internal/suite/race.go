//go:build race

package suite

// UnderRace makes the large tests smaller, because the detector makes them slow and takes
// memory of its own. make deep runs them once more without it, at their full size.
const UnderRace = true
