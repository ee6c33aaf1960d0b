package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/local"
)

// side is one of the two that are compared: a process and a load on it.
type side struct {
	process *local.Process
	floor   bool // it counts its fsyncs
	load    *bench.Load
	runs    []measured
	err     error // of reading what the process used
}

// measured is one run.
type measured struct {
	bench.Result
	cpu     float64 // seconds
	flushes int64
	syncs   int64 // that a floor called for; -1 where nobody counted
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
	var before, after usage
	result, err := s.load.Run(ctx, bench.Window{Warmup: o.warmup, Duration: o.duration, Least: leastOperations,
		Begin: func() { before = s.usage() }, End: func() { after = s.usage() }})
	if err != nil {
		return err
	}
	m := measured{result, after.CPU - before.CPU, after.Flushes - before.Flushes, -1}
	if after.syncs >= 0 {
		m.syncs = after.syncs - before.syncs
	}
	s.runs = append(s.runs, m)
	return nil
}

// usage is what a side has used so far.
type usage struct {
	local.Usage
	syncs int64
}

func (s *side) usage() usage {
	u, err := s.process.Usage()
	s.err = errors.Join(s.err, err)
	return usage{u, s.syncs()}
}

// syncs asks a floor how often it has called fsync; -1 for who has none.
func (s *side) syncs() int64 {
	if !s.floor {
		return -1
	}
	answer, err := http.Get(s.process.URL + readyPath)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return -1
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	text, _ := io.ReadAll(answer.Body)
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return -1
	}
	return n
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
	// Syncs are the fsyncs that a floor called for; -1 where nobody counted.
	Syncs float64 `json:"fsyncs_per_1000"`
	Peak  int64   `json:"peak_memory_bytes"`
	// Errors of all runs, by step and kind.
	Errors map[string]int64 `json:"errors"`
}

func (s *side) summary() figures {
	f := figures{Peak: s.usage().Peak, Errors: map[string]int64{}}
	var operations, cpu, flushes, syncs float64
	for _, run := range s.runs {
		f.PerSecond = append(f.PerSecond, run.PerSecond)
		operations += float64(run.Operations)
		cpu += run.cpu
		flushes += float64(run.flushes)
		syncs += float64(run.syncs)
		for kind, n := range run.Errors {
			f.Errors[kind] += n
		}
	}
	if operations > 0 {
		f.CPU, f.Flushes, f.Syncs = cpu/operations*1000, flushes/operations*1000, syncs/operations*1000
	}
	middle := middleOf(s.runs)
	f.Latency, f.Steps = middle.Latency, middle.Steps
	return f
}
