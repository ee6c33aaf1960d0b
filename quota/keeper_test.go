package quota_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/quota"
)

const mib = 1 << 20

// shelf is a store that keeps sums, and can't be asked when err says so.
type shelf struct {
	used  map[uuid.UUID]int64
	asked int
	err   error
}

type counter func(ctx context.Context, org uuid.UUID) (int64, error)

func (c counter) Usage(ctx context.Context, org uuid.UUID) (int64, error) { return c(ctx, org) }

// rig is a keeper over two stores and a disk that exist in numbers only.
type rig struct {
	t               *testing.T
	keeper          *quota.Keeper
	states, uploads shelf
	limits          map[uuid.UUID]int64
	free            int64
	looks           int
	now             time.Time
	log             bytes.Buffer
	warned          []quota.Standing
}

func newRig(t *testing.T, change func(*quota.Options)) *rig {
	r := &rig{t: t, limits: map[uuid.UUID]int64{}, free: 1000 * mib, now: time.Now(),
		states: shelf{used: map[uuid.UUID]int64{}}, uploads: shelf{used: map[uuid.UUID]int64{}}}
	ask := func(s *shelf) counter {
		return func(_ context.Context, org uuid.UUID) (int64, error) {
			s.asked++
			return s.used[org], s.err
		}
	}
	o := quota.Options{
		Sources:   []quota.Source{{Kind: quota.States, Store: ask(&r.states)}, {Kind: quota.Uploads, Store: ask(&r.uploads)}},
		Limit:     func(org uuid.UUID) int64 { return r.limits[org] },
		Free:      func() (int64, error) { r.looks++; return r.free, nil },
		Reserve:   100 * mib,
		Overdraft: 30 * mib,
		Now:       func() time.Time { return r.now },
		Log:       slog.New(slog.NewTextHandler(&r.log, nil)),
		Warned:    func(_ context.Context, _ uuid.UUID, s quota.Standing) { r.warned = append(r.warned, s) },
	}
	if change != nil {
		change(&o)
	}
	r.keeper = quota.New(o)
	return r
}

// store stores in states as a service and its store do.
func (r *rig) store(org uuid.UUID, size int64, holder bool) error {
	room := r.keeper.Ask(r.t.Context(), org, quota.States)
	allow := room.Allow
	if holder {
		allow = room.AllowHolder
	}
	err := allow(r.states.used[org], size)
	if err == nil {
		r.states.used[org] += size
		r.free -= size
	}
	room.Close(err)
	r.now = r.now.Add(time.Second) // so that the disk is looked at again
	return err
}

func (r *rig) want(code fault.Code, org uuid.UUID, size int64, holder bool) {
	r.t.Helper()
	err := r.store(org, size, holder)
	if code == "" && err != nil || code != "" && !fault.Is(err, code) {
		r.t.Fatalf("%d MiB more, holder %v: %v; want %q", size/mib, holder, err, code)
	}
}

func TestFixedQuota(t *testing.T) {
	r, org := newRig(t, nil), uuid.New()
	r.limits[org] = 50 * mib
	r.uploads.used[org] = 10 * mib
	r.want("", org, 40*mib, false) // to the last byte, together with the uploads
	r.want(fault.QuotaExceeded, org, 1, false)
	r.want("", org, 0, false) // a lock
	r.want("", uuid.New(), 40*mib, false)
	r.uploads.used[org]++
	r.want(fault.QuotaExceeded, org, 0, false)
	err := r.store(org, 3*mib, false)
	for _, said := range []string{"50 MiB stored", "of 50 MiB", "takes 3.0 MiB", "Purge", "keep_versions", "operator"} {
		if !strings.Contains(err.Error(), said) {
			t.Errorf("the refusal says %q, without %q", err, said)
		}
	}
	r.states.used[org] -= 20 * mib // a purge
	r.want("", org, 19*mib, false)
	if n := r.keeper.Refused(quota.Quota); n != 3 {
		t.Errorf("%d were refused", n)
	}
}

// A lock's holder finishes beyond the quota, but not for ever, also not with many locks.
func TestOverdraft(t *testing.T) {
	r, org := newRig(t, nil), uuid.New()
	r.limits[org] = 50 * mib
	r.want("", org, 45*mib, false)
	r.want("", org, 20*mib, true)
	r.want(fault.QuotaExceeded, org, 0, false) // another lock
	r.want("", org, 15*mib, true)
	r.want(fault.QuotaExceeded, org, 1, true)
	if r.states.used[org] != 80*mib || r.keeper.Spared() != 2 {
		t.Errorf("it has %d MiB, spared %d times", r.states.used[org]/mib, r.keeper.Spared())
	}
	r.limits[org] = 1000 * mib // of which a tenth is more
	r.free = 10_000 * mib
	r.want("", org, 920*mib, false)
	r.want("", org, 100*mib, true)
	r.want(fault.QuotaExceeded, org, 1, true)
}

// Alone, an organization gets two thirds of the disk; the next one two thirds of the rest,
// and so there is always some for one that comes later.
func TestAutomaticQuota(t *testing.T) {
	r := newRig(t, nil)
	r.free = 1000 * mib
	left := int64(900)
	for range 4 {
		greedy := uuid.New()
		for r.store(greedy, mib, false) == nil {
		}
		got := r.states.used[greedy] / mib
		if got > left*2/3+1 || got < left*2/3-3 {
			t.Errorf("of %d MiB it got %d", left, got)
		}
		left -= got
		r.want("", uuid.New(), 0, false)
		r.want("", uuid.New(), mib, false)
		left--
	}
	if r.free < 100*mib {
		t.Errorf("%d MiB are left, less than the reserve", r.free/mib)
	}
}

// In the reserve nobody begins anything, and holders share it.
func TestReserve(t *testing.T) {
	r, holder, other, full := newRig(t, nil), uuid.New(), uuid.New(), uuid.New()
	r.limits[holder], r.limits[other], r.limits[full] = 200*mib, quota.None, 0
	r.states.used[full] = 400 * mib // under the automatic quota
	r.free = 90 * mib
	for _, org := range []uuid.UUID{holder, other, full} {
		r.want(fault.StoreFull, org, 0, false)
		r.want(fault.StoreFull, org, mib, false)
	}
	for _, org := range []uuid.UUID{holder, other, full} {
		r.want("", org, mib, true)
		for r.store(org, mib, true) == nil {
		}
		if r.free < 10*mib {
			t.Fatalf("%d MiB are left when others still hold locks", r.free/mib)
		}
	}
	if got := r.states.used[holder]; got != 30*mib {
		t.Errorf("a holder took %d MiB of the reserve, with an overdraft of 30", got/mib)
	}
	if !strings.Contains(r.log.String(), "the disk has no more than its reserve left") {
		t.Errorf("the log:\n%s", &r.log)
	}
	r.free = 600 * mib
	r.want("", holder, mib, false)
	if strings.Count(r.log.String(), "reserve left") != 1 ||
		!strings.Contains(r.log.String(), "room beyond its reserve again") {
		t.Errorf("the log:\n%s", &r.log)
	}
	r.free = 90 * mib // all of it is there again, and so are the shares
	r.want("", holder, 25*mib, true)
	if n := r.keeper.Refused(quota.Reserve); n < 6 {
		t.Errorf("%d were refused", n)
	}
}

// Requests that run at once don't pass on the same free bytes, nor on what was free before.
func TestDiskCountsWhatIsUnderWay(t *testing.T) {
	r := newRig(t, nil)
	r.free = 150 * mib // 50 beyond the reserve, for 25 that are in a log and in a file
	org := func() uuid.UUID { id := uuid.New(); r.limits[id] = quota.None; return id }
	first, second := org(), org()
	one := r.keeper.Ask(t.Context(), first, quota.States)
	two := r.keeper.Ask(t.Context(), second, quota.States)
	if err := errors.Join(one.Allow(0, 15*mib)); err != nil {
		t.Fatal(err)
	}
	if err := two.Allow(0, 15*mib); !fault.Is(err, fault.StoreFull) {
		t.Fatalf("the second: %v", err)
	}
	one.Close(nil)
	two.Close(errors.New("refused"))
	if err := r.keeper.Ask(t.Context(), second, quota.States).Allow(0, 15*mib); !fault.Is(err, fault.StoreFull) {
		t.Errorf("after the first was stored: %v", err)
	}
	if r.looks != 1 {
		t.Errorf("within a second the disk was looked at %d times", r.looks)
	}
}

// A write that can only be refused is in nobody's way: neither before the store asks, nor
// until it is closed.
func TestRefusedHoldsNothing(t *testing.T) {
	for _, free := range []int64{200, 450} { // MiB: in the reserve, and beyond it
		r := newRig(t, func(o *quota.Options) { o.Reserve = 256 * mib })
		full, holder := uuid.New(), uuid.New()
		r.limits[full], r.limits[holder] = 10*mib, quota.None
		r.states.used[full] = 20 * mib
		r.free = free * mib
		for range 2 {
			room := r.keeper.Ask(t.Context(), full, quota.States)
			for range 2 { // a store may ask again
				if room.Allow(20*mib, 64*mib) == nil {
					t.Fatal("beyond its quota it was granted")
				}
			}
			defer room.Close(errors.New("refused"))
		}
		r.want("", holder, mib, true)
		if free > 256 {
			r.want("", holder, mib, false)
		}
	}
}

// What a store asked before in vain is not held when it asks again, nor after the end.
func TestHeldAsAskedLast(t *testing.T) {
	r := newRig(t, nil)
	r.free = 150 * mib
	first, second := uuid.New(), uuid.New()
	r.limits[first], r.limits[second] = quota.None, quota.None
	one, two := r.keeper.Ask(t.Context(), first, quota.States), r.keeper.Ask(t.Context(), second, quota.States)
	for range 3 {
		if err := one.Allow(0, 15*mib); err != nil {
			t.Fatal(err)
		}
	}
	if err := two.Allow(0, 15*mib); !fault.Is(err, fault.StoreFull) {
		t.Errorf("on bytes that the other one was granted: %v", err)
	}
	if err := errors.Join(one.Allow(0, 5*mib), two.Allow(0, 15*mib)); err != nil {
		t.Errorf("after the other one asked for less: %v", err)
	}
	one.Close(errors.New("in vain"))
	two.Close(errors.New("in vain"))
	if err := one.Allow(0, 15*mib); err != nil { // too late: nobody would end it
		t.Error(err)
	}
	if free, _, _ := r.keeper.Disk(); free != 150*mib {
		t.Errorf("%d MiB are free in the end", free/mib)
	}
}

// What is stored elsewhere counts for a quota that somebody set, not for the disk's.
func TestElsewhere(t *testing.T) {
	r := newRig(t, func(o *quota.Options) { o.Sources[1].Elsewhere = true })
	fixed, auto := uuid.New(), uuid.New()
	r.limits[fixed] = 10 * mib
	for _, org := range []uuid.UUID{fixed, auto} {
		r.uploads.used[org] = 5000 * mib
	}
	r.want(fault.QuotaExceeded, fixed, mib, false)
	r.want("", auto, mib, false)
	r.free = 0
	upload := func(org uuid.UUID) error {
		room := r.keeper.Ask(t.Context(), org, quota.Uploads)
		err := room.Allow(r.uploads.used[org], mib)
		room.Close(err)
		return err
	}
	if err := upload(auto); err != nil {
		t.Errorf("an upload to elsewhere, with a full disk here: %v", err)
	}
	if err := upload(fixed); !fault.Is(err, fault.QuotaExceeded) {
		t.Errorf("an upload beyond a fixed quota: %v", err)
	}
}

// A source over the network that fails is neither asked again each time, nor in the way.
func TestSourceThatFails(t *testing.T) {
	r := newRig(t, func(o *quota.Options) { o.Sources[1].Elsewhere = true })
	org := uuid.New()
	r.limits[org] = 100 * mib
	r.uploads.used[org] = 95 * mib
	r.want(fault.QuotaExceeded, org, 10*mib, false)
	r.uploads.err = errors.New("away")
	before := r.uploads.asked
	for range 9 { // a second each
		r.want(fault.QuotaExceeded, org, 10*mib, false) // as when it was asked last
		r.want("", uuid.New(), mib, false)
	}
	if asked := r.uploads.asked - before; asked > 2 {
		t.Errorf("a source that fails was asked %d times", asked)
	}
	r.uploads.err, r.uploads.used[org] = nil, 0
	r.now = r.now.Add(time.Minute)
	r.want("", org, 10*mib, false)
	if _, err := r.keeper.Standing(t.Context(), org); err != nil {
		t.Error(err)
	}
}

// Who comes near is told once, and again after it was well below.
func TestWarning(t *testing.T) {
	r, org := newRig(t, nil), uuid.New()
	r.limits[org] = 100 * mib
	r.want("", org, 79*mib, false)
	if _, near := r.keeper.Near(org); near || r.keeper.NearOnes() != 0 {
		t.Error("it is near with 79 %")
	}
	for range 5 {
		r.want("", org, mib, false)
	}
	s, near := r.keeper.Near(org)
	if !near || s.Used != 84*mib || s.Limit != 100*mib || r.keeper.NearOnes() != 1 || len(r.warned) != 1 ||
		r.warned[0].Used != 80*mib {
		t.Errorf("near %v %+v; warned %+v", near, s, r.warned)
	}
	r.states.used[org] = 75 * mib // not far enough below
	r.want("", org, 6*mib, false)
	r.states.used[org] = 10 * mib
	r.want("", org, mib, false)
	if _, near := r.keeper.Near(org); near || len(r.warned) != 1 {
		t.Errorf("near %v after a purge; warned %+v", near, r.warned)
	}
	r.want("", org, 80*mib, false)
	if len(r.warned) != 2 || strings.Count(r.log.String(), "near its quota") != 2 {
		t.Errorf("warned %+v\n%s", r.warned, &r.log)
	}
}

// A limit that follows the disk must not show what others write.
func TestStandingHidesTheDisk(t *testing.T) {
	r, org := newRig(t, nil), uuid.New()
	r.states.used[org], r.uploads.used[org] = 3*mib, 4*mib
	first, err := r.keeper.Standing(t.Context(), org)
	if err != nil || first.Used != 7*mib || first.Limit != 1024*mib || first.By[quota.States] != 3*mib ||
		first.By[quota.Uploads] != 4*mib {
		t.Errorf("standing %+v, %v", first, err)
	}
	r.want("", uuid.New(), mib, false)
	if second, _ := r.keeper.Standing(t.Context(), org); second.Limit != first.Limit {
		t.Errorf("the limit went from %d to %d when another one stored 1 MiB", first.Limit, second.Limit)
	}
	r.limits[org] = 12345678
	if s, _ := r.keeper.Standing(t.Context(), org); s.Limit != 12345678 {
		t.Errorf("a fixed limit is shown as %d", s.Limit)
	}
	r.limits[org] = quota.None
	if s, _ := r.keeper.Standing(t.Context(), org); s.Limit != quota.Unlimited {
		t.Errorf("no limit is shown as %d", s.Limit)
	}
}

// Without a keeper, and where the disk can't be measured, nobody is refused.
func TestNoKeeper(t *testing.T) {
	var none *quota.Keeper
	room := none.Ask(t.Context(), uuid.New(), quota.States)
	if err := errors.Join(room.Allow(1<<60, 1<<60), room.AllowHolder(1<<60, 1<<60)); err != nil {
		t.Error(err)
	}
	room.Close(nil)
	if _, near := none.Near(uuid.New()); near {
		t.Error("near nothing")
	}
	r := newRig(t, func(o *quota.Options) { o.Free = func() (int64, error) { return 0, errors.New("no") } })
	r.want("", uuid.New(), mib, false)
	if _, _, known := r.keeper.Disk(); known {
		t.Error("a disk that can't be measured is known")
	}
}
