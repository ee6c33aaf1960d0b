// Package server puts together what `holdfast serve` runs: it opens the stores and what
// stands on them, serves requests, does what has to be done regularly, and closes all of it
// in the opposite order.
package server
