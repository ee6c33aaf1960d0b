package bench

import (
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest operation that is told from longer ones.
const longest = 10 * time.Minute

// record is what one connection has seen.
type record struct {
	operations int64
	waits      int64
	all        *hdrhistogram.Histogram // of microseconds, as are those of the steps
	each       [steps]*hdrhistogram.Histogram
	errors     map[string]int64
	example    map[string]string
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Microseconds(), 2)
}

func newRecord() *record {
	return &record{all: newHistogram(), errors: map[string]int64{}, example: map[string]string{}}
}

func (r *record) add(took time.Duration, each [steps]time.Duration) {
	r.operations++
	note(&r.all, took)
	for step, took := range each {
		if took > 0 {
			note(&r.each[step], took)
		}
	}
}

// note adds a time to a histogram, which is made when it is needed.
func note(to **hdrhistogram.Histogram, took time.Duration) {
	if *to == nil {
		*to = newHistogram()
	}
	_ = (*to).RecordValue(min(max(took, time.Microsecond), longest).Microseconds()) // it can't be out of range
}

func (r *record) fail(err error) {
	kind := "other"
	if failure, ok := errors.AsType[*Failure](err); ok {
		kind = failure.Step + " " + failure.Kind
	}
	r.errors[kind]++
	r.example[kind] = err.Error()
}

// merge adds what another connection has seen.
func (r *record) merge(other *record) {
	r.operations += other.operations
	r.waits += other.waits
	r.all.Merge(other.all)
	for step, h := range other.each {
		if h == nil {
			continue
		}
		if r.each[step] == nil {
			r.each[step] = newHistogram()
		}
		r.each[step].Merge(h)
	}
	for kind, n := range other.errors {
		r.errors[kind] += n
		r.example[kind] = other.example[kind]
	}
}
