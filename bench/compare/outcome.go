package main

import (
	"cmp"
	"fmt"
	"slices"
)

// outcome is what was found for a row.
type outcome struct {
	row
	Server figures `json:"server"`
	Base   figures `json:"floor_figures"`
	Ratio  spread  `json:"ratio"`
}

// spread is how a figure varied over the runs.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{Min: sorted[0], Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Max: sorted[n-1]}
}

// ratios compares the two sides run by run: what disturbs one run disturbs both of its
// halves.
func ratios(server, base []float64) spread {
	var all []float64
	for i := range server {
		if base[i] > 0 {
			all = append(all, server[i]/base[i])
		}
	}
	return spreadOf(all)
}

// middleOf returns the run with the median rate.
func middleOf(runs []measured) measured {
	if len(runs) == 0 {
		return measured{}
	}
	sorted := slices.SortedFunc(slices.Values(runs),
		func(a, b measured) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	return sorted[(len(sorted)-1)/2]
}

// line is for people who wait.
func (o outcome) line() string {
	return fmt.Sprintf("%s: %.0f/s of %.0f/s, ratio %.2f (%.2f to %.2f)", o.row, spreadOf(o.Server.PerSecond).Median,
		spreadOf(o.Base.PerSecond).Median, o.Ratio.Median, o.Ratio.Min, o.Ratio.Max)
}

func (f figures) failed() (n int64) {
	for _, count := range f.Errors {
		n += count
	}
	return n
}
