//go:build race

package csv

// underRace makes the large tests smaller, because the detector makes them slow.
const underRace = true
