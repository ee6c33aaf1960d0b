package main

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/local"
)

// side is one of the two that are compared: a process and a load on it.
type side struct {
	process *local.Process
	load    *bench.Load
	runs    []measured
	err     error // of reading what the process used
}

// measured is one run.
type measured struct {
	bench.Result
	cpu     float64 // seconds
	flushes int64
}

// leastOperations is how many a run must have, if it can.
const leastOperations = 20

// open opens the load; without it, the side is over.
func (s *side) open(ctx context.Context, ids []bench.Identity, o bench.Options) (err error) {
	if s.load, err = bench.Open(ctx, bench.Target{Address: s.process.URL, Identities: ids}, o); err != nil {
		return errors.Join(err, s.stop())
	}
	return nil
}

func (s *side) measure(ctx context.Context, o options) error {
	var before, after local.Usage
	result, err := s.load.Run(ctx, bench.Window{Warmup: o.warmup, Duration: o.duration, Least: leastOperations,
		Begin: func() { before = s.usage() }, End: func() { after = s.usage() }})
	if err != nil {
		return err
	}
	s.runs = append(s.runs, measured{result, after.CPU - before.CPU, after.Flushes - before.Flushes})
	return nil
}

func (s *side) usage() local.Usage {
	u, err := s.process.Usage()
	s.err = errors.Join(s.err, err)
	return u
}

func (s *side) stop() error {
	if s.load != nil {
		s.load.Close()
	}
	return s.process.Stop()
}

// figures are what a side has come to over all runs.
type figures struct {
	PerSecond []float64 `json:"operations_per_second"` // of each run
	// Latency is that of the run in the middle, in milliseconds.
	Latency bench.Latency            `json:"latency_ms"`
	Steps   map[string]bench.Latency `json:"steps_ms"`
	// CPU is the process's time in seconds for 1,000 operations.
	CPU     float64 `json:"cpu_seconds_per_1000"`
	Flushes float64 `json:"disk_flushes_per_1000"`
	Peak    int64   `json:"peak_memory_bytes"`
	// Errors of all runs, by step and kind.
	Errors map[string]int64 `json:"errors"`
}

func (s *side) summary() figures {
	f := figures{Peak: s.usage().Peak, Errors: map[string]int64{}}
	var operations, cpu, flushes float64
	for _, run := range s.runs {
		f.PerSecond = append(f.PerSecond, run.PerSecond)
		operations += float64(run.Operations)
		cpu += run.cpu
		flushes += float64(run.flushes)
		for kind, n := range run.Errors {
			f.Errors[kind] += n
		}
	}
	if operations > 0 {
		f.CPU, f.Flushes = cpu/operations*1000, flushes/operations*1000
	}
	middle := middleOf(s.runs)
	f.Latency, f.Steps = middle.Latency, middle.Steps
	return f
}
