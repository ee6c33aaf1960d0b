package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// patience is how long a log may take to come to all who read it.
const patience = 5 * time.Minute

// measureLines times lines, from before each is sent to when a reader has it.
func measureLines(ctx context.Context, o options, s, floor place) error {
	took, err := lines(ctx, o, s)
	if err != nil {
		return err
	}
	least, err := lines(ctx, o, floor)
	if err != nil {
		return err
	}
	fmt.Printf("| a line, p50 | %d | %s | %s | |\n", o.readers, text(took, 50), text(least, 50))
	fmt.Printf("| a line, p99 | %d | %s | %s | ≤ %d ms |\n", o.readers, text(took, 99), text(least, 99),
		o.lineGoal.Milliseconds())
	return nil
}

func text(sorted []time.Duration, percent int) string {
	return fmt.Sprintf("%.1f ms", sorted[min(len(sorted)*percent/100, len(sorted)-1)].Seconds()*1000)
}

func lines(ctx context.Context, o options, at place) (took []time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	log, err := at.newLog(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var ends []int64
	var sent []time.Time
	have, done := make([]int, o.readers), make(chan struct{})
	all, err := follow(ctx, log, o.readers, func(reader int, offset int64) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		for have[reader] < len(ends) && ends[have[reader]] <= offset {
			took = append(took, now.Sub(sent[have[reader]]))
			have[reader]++
		}
		if len(took) == o.readers*o.lines {
			close(done)
		}
	})
	if err != nil {
		return nil, err
	}
	defer all.close()
	end := int64(0)
	for i := range o.lines {
		line := fmt.Appendf(nil,
			"terraform_data.r[%d]: Creation complete after 0s [id=5f0e39a2-6c2b-4f6e-8a55-0f6f9f0f3b1c]\n", i)
		mu.Lock()
		end += int64(len(line))
		ends, sent = append(ends, end), append(sent, time.Now())
		mu.Unlock()
		if err := log.write(ctx, line); err != nil {
			return nil, err
		}
		time.Sleep(o.pause)
	}
	select {
	case <-done:
	case <-ctx.Done():
		return nil, fmt.Errorf("the lines have not come to all: %w", ctx.Err())
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(took)
	return slices.Clone(took), nil
}

// measureBytes has a large log come to all who read it, while it is written and once it is there.
func measureBytes(ctx context.Context, o options, s, floor place) error {
	var live, kept [2][]moved
	for range o.runs {
		for i, at := range []place{s, floor} {
			comes, there, err := transfer(ctx, o, at)
			if err != nil {
				return err
			}
			live[i], kept[i] = append(live[i], comes), append(kept[i], there)
		}
	}
	for _, row := range []struct {
		what  string
		found [2][]moved
	}{{"as it comes", live}, {"from its beginning", kept}} {
		fmt.Printf("| %d MB %s | %d | %s | %s | ≥ %.0f MB/s |\n", o.bytes/1e6, row.what, o.readers, median(row.found[0]),
			median(row.found[1]), o.rateGoal)
	}
	return nil
}

// moved is a log that has come to all its readers.
type moved struct {
	rate float64 // MB of the log in a second
	cpu  float64 // seconds of the process that sent it
}

func (m moved) String() string { return fmt.Sprintf("%.0f MB/s to each, %.1f CPU s", m.rate, m.cpu) }

func median(all []moved) moved {
	slices.SortFunc(all, func(a, b moved) int { return cmp.Compare(a.rate, b.rate) })
	return all[len(all)/2]
}

// transfer returns how fast a log comes to all while it is written, and to as many others once it is.
func transfer(ctx context.Context, o options, at place) (live, kept moved, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	log, err := at.newLog(ctx)
	if err != nil {
		return live, kept, err
	}
	part := bytes.Repeat([]byte("terraform_data.r: Creation complete after 0s [id=5f0e39a2-6c2b-4f6e-8a55-0f6f9f0f3b1c]\n"), 14_000)[:1<<20]
	live, err = timed(ctx, o, at, log, func() error {
		for left := o.bytes; left > 0; left -= int64(len(part)) {
			if err := log.write(ctx, part[:min(left, int64(len(part)))]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return live, kept, err
	}
	kept, err = timed(ctx, o, at, log, func() error { return nil })
	return live, kept, err
}

// timed returns the rate at which the log comes to all its readers while do goes on.
func timed(ctx context.Context, o options, at place, log source, do func() error) (moved, error) {
	before, err := at.usage()
	if err != nil {
		return moved{}, err
	}
	var there sync.WaitGroup
	there.Add(o.readers)
	begin, once := time.Now(), make([]sync.Once, o.readers)
	all, err := follow(ctx, log, o.readers, func(reader int, offset int64) {
		if offset >= o.bytes {
			once[reader].Do(there.Done)
		}
	})
	if err != nil {
		return moved{}, err
	}
	defer all.close()
	if err := do(); err != nil {
		return moved{}, err
	}
	done := make(chan struct{})
	go func() { there.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		return moved{}, fmt.Errorf("the log has not come to all: %w", ctx.Err())
	}
	rate := float64(o.bytes) / 1e6 / time.Since(begin).Seconds()
	after, err := at.usage()
	return moved{rate, after.CPU - before.CPU}, err
}
