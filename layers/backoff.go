package layers

import (
	"hash/fnv"
	"strconv"
	"time"
)

// What a layer is tried again by, unless settings say otherwise.
const (
	DefaultRetries = 5
	firstGrace     = 15 * time.Second
	longestGrace   = 10 * time.Minute
)

// Grace is how long to wait behind the n-th failure in a row: 15 seconds, and twice as long each time, at most 10
// minutes; times the jitter, which is between 0.5 and 1.5.
func Grace(failures int, jitter float64) time.Duration {
	grace := longestGrace
	if shift := max(failures-1, 0); shift < 6 {
		grace = min(longestGrace, firstGrace<<shift)
	}
	return time.Duration(float64(grace) * jitter)
}

// Jitter is a number between 0.5 and 1.5 that always is the same of a layer's n-th of something: after a restart, and
// on another node, what was to wait waits as long as before.
func Jitter(layer string, n int64) float64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(layer + "\x00" + strconv.FormatInt(n, 10))) // a hash takes everything
	mixed := sum.Sum64()
	mixed ^= mixed >> 33
	mixed *= 0xff51afd7ed558ccd
	mixed ^= mixed >> 33
	return 0.5 + float64(mixed>>11)/(1<<53)
}
