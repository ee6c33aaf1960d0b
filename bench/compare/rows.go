package main

import (
	"fmt"

	"github.com/holdfast/holdfast/bench"
)

// The floors, each of which is what a row is compared with.
const (
	fixedFloor   = "fixed"   // returns fixed bytes of that size
	durableFloor = "durable" // in memory, and one file with group commit
	uploadFloor  = "upload"  // one file with group commit
	openFloor    = "open"    // the server itself, but that it lets everybody in
)

// row is one line of the result: what is measured, and how much of its floor is aimed at.
type row struct {
	Mix         bench.Mix `json:"mix"`
	Size        int       `json:"size_bytes,omitempty"`
	Connections int       `json:"connections"`
	Gzip        bool      `json:"gzip,omitempty"`
	// Shared is whether all connections belong to one organization.
	Shared bool   `json:"shared,omitempty"`
	Floor  string `json:"floor"`
	// Target is the least ratio to the floor; 0 where none is set.
	Target float64 `json:"target,omitempty"`
}

// The sizes of states.
const (
	size10KB  = 10_000
	size100KB = 100_000
	size1MB   = 1_000_000
	size10MB  = 10_000_000
)

// rows returns all there is to measure.
func rows(shared bool) []row {
	all := append(readRows(), writeRows()...)
	for i := range all {
		all[i].Shared = all[i].Shared || shared
	}
	return all
}

func readRows() (all []row) {
	for _, size := range []int{size10KB, size100KB, size1MB} {
		for _, connections := range []int{1, 16, 64} {
			r := row{Mix: bench.Read, Size: size, Connections: connections, Floor: fixedFloor, Target: 0.8}
			if connections == 1 {
				r.Target = 0
			}
			all = append(all, r)
		}
	}
	for _, size := range []int{size1MB, size10MB} {
		all = append(all, row{Mix: bench.Read, Size: size, Connections: 16, Gzip: true, Floor: fixedFloor, Target: 1.5})
	}
	return all
}

func writeRows() []row {
	return []row{
		{Mix: bench.Cycle, Size: size10KB, Connections: 1, Floor: durableFloor},
		{Mix: bench.Cycle, Size: size10KB, Connections: 16, Floor: durableFloor, Target: 0.6},
		{Mix: bench.Cycle, Size: size10KB, Connections: 64, Floor: durableFloor, Target: 0.6},
		{Mix: bench.Cycle, Size: size100KB, Connections: 16, Floor: durableFloor, Target: 0.7},
		{Mix: bench.Cycle, Size: size1MB, Connections: 16, Floor: durableFloor, Target: 0.5},
		{Mix: bench.Cycle, Size: size10MB, Connections: 16, Floor: durableFloor, Target: 0.75},
		{Mix: bench.Plan, Size: size100KB, Connections: 16, Floor: durableFloor},
		{Mix: bench.Upload, Connections: 16, Floor: uploadFloor, Target: 0.5},
		{Mix: bench.Upload, Connections: 16, Shared: true, Floor: uploadFloor, Target: 0.5},
		{Mix: bench.Read, Size: size10KB, Connections: 16, Floor: openFloor, Target: 0.97},
	}
}

// String names the row, as -only takes it.
func (r row) String() string {
	text := r.mix()
	if r.Size > 0 {
		text += " " + bench.SizeText(r.Size)
	}
	return fmt.Sprintf("%s %d", text, r.Connections)
}

func (r row) mix() string {
	text := string(r.Mix)
	if r.Floor == openFloor {
		text = "authentication"
	}
	if r.Gzip {
		text += " gzip"
	}
	if r.Shared {
		text += " one organization"
	}
	return text
}
