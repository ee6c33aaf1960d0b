package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

const (
	// namedFailures is how many addresses and keys of a minute have an entry of their own in an organization's
	// log; what came from others is one entry more. Who fails is a stranger, who must not fill it.
	namedFailures = 8
	// maxFailing is how many organizations may be failed at in a minute for that to be on record.
	maxFailing = 4096
)

// Failures puts failed logins on record, summed by organization, address and key. Flush is called once a minute.
type Failures struct {
	record Recorder
	now    func() time.Time

	mu   sync.Mutex
	orgs map[uuid.UUID]*failing
	lost int // at organizations of which there are too many
}

// NewFailures returns one that keeps entries in record.
func NewFailures(record Recorder, now func() time.Time) *Failures {
	return &Failures{record: record, now: now, orgs: map[uuid.UUID]*failing{}}
}

// failing is what failed at one organization. others are failures without an entry of their own.
type failing struct {
	named  map[Actor]failed
	others failed
}

// failed counts failures by what was told.
type failed map[fault.Code]int

// Note counts a failed login at an organization. Of the actor the address counts, and the key as far as it is
// known: it is who has one that has expired, or may not be used from there.
func (f *Failures) Note(org uuid.UUID, by Actor, told fault.Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(org, Actor{KeyID: by.KeyID, KeyName: by.KeyName, Subject: by.Subject, Role: by.Role, Address: by.Address},
		told, 1)
}

func (f *Failures) count(org uuid.UUID, by Actor, told fault.Code, n int) {
	at := f.orgs[org]
	if at == nil {
		if len(f.orgs) >= maxFailing {
			f.lost += n
			return
		}
		at = &failing{named: map[Actor]failed{}, others: failed{}}
		f.orgs[org] = at
	}
	codes := at.named[by]
	switch {
	case codes != nil:
	case by != Actor{} && len(at.named) < namedFailures:
		codes = failed{}
		at.named[by] = codes
	default:
		codes = at.others
	}
	codes[told] += n
}

// Flush puts on record what was counted since the last time, of organizations in force. What can't be written is
// counted on.
func (f *Failures) Flush(ctx context.Context, inForce func(uuid.UUID) bool) error {
	f.mu.Lock()
	orgs, lost := f.orgs, f.lost
	f.orgs, f.lost = map[uuid.UUID]*failing{}, 0
	f.mu.Unlock()
	var err error
	for org, at := range orgs {
		if !inForce(org) {
			continue
		}
		for by, codes := range at.named {
			if err = cmp.Or(err, f.keep(ctx, org, by, codes, "")); err != nil {
				f.countOn(org, by, codes)
			}
		}
		if len(at.others) > 0 {
			if err = cmp.Or(err, f.keep(ctx, org, Actor{}, at.others, ", from other addresses")); err != nil {
				f.countOn(org, Actor{}, at.others)
			}
		}
	}
	if err == nil && lost > 0 {
		err = fmt.Errorf("%d were at more organizations than are counted in a minute", lost)
	}
	if err != nil {
		return fmt.Errorf("put failed logins on record: %w", err)
	}
	return nil
}

// countOn has failures come with those of the next minute.
func (f *Failures) countOn(org uuid.UUID, by Actor, codes failed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for code, n := range codes {
		f.count(org, by, code, n)
	}
}

func (f *Failures) keep(ctx context.Context, org uuid.UUID, by Actor, codes failed, from string) error {
	return f.record.Record(ctx, Event{At: f.now().UTC().Truncate(time.Microsecond), Org: org, Actor: by,
		Action: LoginFail, Refused: codes.most(), Note: codes.String() + from})
}

// most is the code that came most often.
func (c failed) most() fault.Code {
	return slices.MaxFunc(slices.Sorted(maps.Keys(c)), func(a, b fault.Code) int { return cmp.Compare(c[a], c[b]) })
}

// String is such as "3 credentials_wrong, 12 too_many_failures".
func (c failed) String() string {
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, fmt.Sprintf("%d %s", c[code], code))
	}
	return strings.Join(parts, ", ")
}
