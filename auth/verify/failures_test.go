package verify

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
)

// from tries a key from an address, and returns the code of the refusal, or "in".
func (b *bench) from(address string, org uuid.UUID, key string) string {
	_, err := b.Verify(context.Background(), auth.Credentials{Org: org, Key: key}, auth.Client{Address: address})
	if err == nil {
		return "in"
	}
	return string(fault.From(err).Code)
}

// guess sends so many different wrong keys, and returns how many were looked at.
func (b *bench) guess(address string, org uuid.UUID, times int) (looked int) {
	for i := range times {
		if b.from(address, org, fmt.Sprint("bad", address, i, b.now.Load())) == string(fault.CredentialsWrong) {
			looked++
		}
	}
	return looked
}

const (
	in      = "in"
	wrongly = string(fault.CredentialsWrong)
	tooMany = string(fault.TooManyFailures)
)

// step is what one try comes to. It says what is tried by whom, so that a table reads as a
// story.
type step struct {
	at      int64 // seconds
	address string
	key     string
	want    string
	compare int64 // comparisons that it takes
}

func (b *bench) play(t *testing.T, steps []step) {
	t.Helper()
	for i, s := range steps {
		b.now.Store(s.at)
		b.compared.Store(0)
		if got := b.from(s.address, orgA, s.key); got != s.want || b.compared.Load() != s.compare {
			t.Errorf("step %d, %s from %s: %s after %d comparisons, want %s after %d", i, s.key, s.address, got,
				b.compared.Load(), s.want, s.compare)
		}
	}
}

// A proxy that doesn't say who calls makes all of its clients one. Who guesses among them
// keeps out neither the other organizations' newcomers, nor the proxy itself, nor anybody
// with a known key.
func TestGuessesFromNobodyKnowsWhere(t *testing.T) {
	const unknown = "unknown via 192.0.2.1"
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}, orgB: {3}}))
	if got := b.from(unknown, orgA, "k1"); got != in {
		t.Fatal(got)
	}
	if looked := b.guess(unknown, orgA, 50); looked != 10 {
		t.Errorf("%d guesses were looked at, want 10", looked)
	}
	for _, try := range []struct {
		address string
		org     uuid.UUID
		key     string
		want    string
	}{
		{unknown, orgA, "k2", tooMany}, // it could be a guess
		{unknown, orgA, "k1", in},
		{unknown, orgB, "k3", in},
		{"192.0.2.1", orgA, "k2", in},
	} {
		if got := b.from(try.address, try.org, try.key); got != try.want {
			t.Errorf("%s of %s from %q: %s, want %s", try.key, try.org, try.address, got, try.want)
		}
	}
}

// Nobody knows whether a caller without an address has failed before: it waits behind
// those of whom that is known.
func TestRankOfNobodyKnowsWhere(t *testing.T) {
	f, err := newFailures(10, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]rank{"192.0.2.1": stranger, "unknown via 192.0.2.1": suspect} {
		a, err := f.admit(t.Context(), originOf(orgA, address))
		if err != nil || a.rank != want {
			t.Errorf("%q: rank %d, %v; want %d", address, a.rank, err, want)
		}
	}
}

func TestAddressThatFailsIsRefusedBeforeAnyComparison(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2, 3}}))
	b.play(t, []step{{0, "192.0.2.1", "k1", in, 1}})
	if looked := b.guess("192.0.2.1", orgA, 50); looked != 10 {
		t.Errorf("%d guesses were looked at, want 10", looked)
	}
	b.play(t, []step{
		{0, "192.0.2.1", "bad", tooMany, 0},
		{0, "192.0.2.1", "k2", tooMany, 0}, // it could be a guess
		{0, "192.0.2.1", "k1", in, 0},
		{0, "192.0.2.2", "k2", in, 2},
		{0, "192.0.2.2", "bad", wrongly, 3},
		{0, "192.0.2.1", "k2", in, 0},       // by now it is known
		{5, "192.0.2.1", "bad", wrongly, 0}, // by now this is known, too
		{6, "192.0.2.1", "bad6", wrongly, 3},
		{6, "192.0.2.1", "bad6 again", tooMany, 0},
		{12, "192.0.2.1", "k3", in, 3},         // success costs nothing,
		{12, "192.0.2.1", "bad12", wrongly, 3}, // so a guess is left
		{12, "192.0.2.1", "bad12 again", tooMany, 0},
	})
	b.now.Store(1000)
	if looked := b.guess("192.0.2.1", orgA, 50); looked != 10 {
		t.Errorf("%d guesses were looked at later, want 10", looked)
	}
}

// A key that was good is let in through an attack from its own address also when the
// cache has forgotten it, and needs one comparison. It must still be in the keyring.
func TestFamiliarKeyIsExempt(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {2, 3, 1}}))
	b.play(t, []step{{0, "192.0.2.1", "k1", in, 3}})
	b.now.Store(3600)
	b.guess("192.0.2.1", orgA, 50)
	b.play(t, []step{{3600, "192.0.2.1", "k1", in, 1}, {3600, "192.0.2.1", "k1", in, 0}})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {3, 2, 1}}))
	b.play(t, []step{{3600, "192.0.2.1", "k1", in, 1}})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {2, 3}, orgB: {1}}))
	b.play(t, []step{{3600, "192.0.2.1", "k1", tooMany, 0}, {3600, "192.0.2.7", "k1", wrongly, 2}})
}

func TestRetryAfterIsTheTrueWait(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	b.guess("192.0.2.1", orgA, 10)
	for at, want := range map[int64]time.Duration{0: 6 * time.Second, 2: 4 * time.Second, 5: time.Second} {
		b.now.Store(at)
		_, err := b.try(orgA, "bad")
		// Refills are computed in floating point.
		if got := fault.From(err).RetryAfter; (got - want).Abs() > time.Microsecond {
			t.Errorf("after %d s: wait %v, want %v", at, got, want)
		}
		if text := fmt.Sprintf("can be in %d s", want/time.Second); !strings.Contains(fault.From(err).Message, text) {
			t.Errorf("after %d s the message lacks %q: %s", at, text, fault.From(err).Message)
		}
	}
}

// Clients wait for as long as they are told without a word. They are told at once, and the next try
// is looked at, so that whoever uses them learns after one wait what is wrong.
func TestWaitThatIsToldIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Now: time.Now})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
		b.guess("192.0.2.1", orgA, 10)
		for i, key := range []string{"bad", "worse", "k1"} {
			start := time.Now()
			_, err := b.try(orgA, key)
			told := fault.From(err)
			if told.Code != fault.TooManyFailures || time.Since(start) != 0 {
				t.Fatalf("try %d: %v after %v, want %s at once", i, err, time.Since(start), fault.TooManyFailures)
			}
			// What the wire has is whole seconds.
			time.Sleep((told.RetryAfter + time.Second - 1).Truncate(time.Second))
			if _, err = b.try(orgA, key); fault.Is(err, fault.TooManyFailures) {
				t.Errorf("try %d: %v after a wait of %v", i, err, told.RetryAfter)
			}
		}
	})
}

// Minutes are never told: a client would hang for as long.
func TestLongWaitIsCutShort(t *testing.T) {
	b := newBench(t, Config{FailuresPerMinute: 1})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	b.guess("192.0.2.1", orgA, 1)
	if _, err := b.try(orgA, "bad"); fault.From(err).RetryAfter != maxRetryAfter {
		t.Errorf("wait %v, want %v", fault.From(err).RetryAfter, maxRetryAfter)
	}
}

// Keys that are sent together are no more guesses than keys that are sent one by one.
func TestGuessesAtOnce(t *testing.T) {
	for name, address := range map[string]func(i int) string{
		"one address": func(int) string { return "192.0.2.1" },
		"one network": func(i int) string { return fmt.Sprintf("2001:db8:1:%x::%x", i, i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Config{Checks: 4})
				b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
				release := b.holdUp()
				for i := range 64 {
					go b.from(address(i), orgA, fmt.Sprint("bad", i))
				}
				synctest.Wait()
				release()
				synctest.Wait()
				if n := b.compared.Load(); n != 10 {
					t.Errorf("%d comparisons, want 10", n)
				}
			})
		})
	}
}

// A herd of good keys behind one address, as after a restart, waits and gets in.
func TestGoodKeysAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		orgs := make(map[uuid.UUID][]int)
		for i := range 60 {
			orgs[uuid.NewSHA1(orgA, []byte{byte(i)})] = []int{i}
		}
		b.Use(ring(t, orgs))
		release := b.holdUp()
		var got atomic.Int64
		for org, keys := range orgs {
			go func() {
				if b.from("192.0.2.1", org, fmt.Sprint("k", keys[0])) == in {
					got.Add(1)
				}
			}()
		}
		synctest.Wait()
		release()
		synctest.Wait()
		if got.Load() != 60 {
			t.Errorf("%d of 60 got in", got.Load())
		}
	})
}

// When an organization is guessed at from everywhere, who has failed is cut off early, and
// who has not gets in.
func TestOrganizationThatIsGuessedAt(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}, orgB: {3}}))
	looked := 0
	for i := range 30 {
		looked += b.guess(fmt.Sprint("192.0.2.", i), orgA, 50)
	}
	if looked != 100+20 { // ten addresses have used up the organization's; each of the others gets one
		t.Errorf("%d guesses were looked at, want 120", looked)
	}
	b.play(t, []step{
		{0, "192.0.2.29", "k1", tooMany, 0},
		{0, "198.51.100.1", "k1", in, 1},
		{0, "198.51.100.1", "bad", wrongly, 2},
		{0, "198.51.100.1", "k2", tooMany, 0},
	})
	if got := b.from("198.51.100.1", orgB, "k3"); got != in {
		t.Errorf("another organization, from an address that failed once: %s", got)
	}
}

// Somebody's old key, sent over and over, is refused ever more cheaply and leaves others at
// the address alone.
func TestSameWrongKeyAgain(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	b.play(t, []step{{0, "192.0.2.1", "old", wrongly, 1}})
	for range 100 {
		b.play(t, []step{{0, "192.0.2.1", "old", wrongly, 0}})
	}
	if n := strings.Count(b.log.String(), "level=WARN"); n != 11 {
		t.Errorf("%d lines in the log, want 11", n)
	}
	if looked := b.guess("192.0.2.1", orgA, 50); looked != 9 {
		t.Errorf("%d guesses were looked at, want 9", looked)
	}
	// It may be good in the next keyring.
	b.now.Store(60)
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	b.play(t, []step{{60, "192.0.2.1", "old", wrongly, 1}, {60, "192.0.2.1", "old", wrongly, 0}})
}

// A key that was made for an organization is looked at although its address has used up what it
// may fail with; and who sends very many such keys is refused as well, whether there is the
// organization or not.
func TestNewKeyAmongGuesses(t *testing.T) {
	for _, org := range []uuid.UUID{orgA, uuid.New()} {
		b := newBench(t, Config{})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
		if looked := b.guess("192.0.2.1", org, 50); looked != 10 {
			t.Errorf("%d guesses were looked at, want 10", looked)
		}
		looked := 0
		for range 50 {
			if b.from("192.0.2.1", org, auth.NewKey(org)) == wrongly {
				looked++
			}
		}
		if looked != 10 {
			t.Errorf("%d keys were looked at, want 10", looked)
		}
		if got := b.from("192.0.2.1", orgB, auth.NewKey(orgA)); got != tooMany {
			t.Errorf("a key for another organization than it carries: %s", got)
		}
	}
}

// Keys that were made for an organization are no guesses at it: however many are wrong, and wherever
// they come from, they use up nothing of what guesses have, and guesses nothing of what they have.
func TestKeysOfItsOwnAreNoGuesses(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}}))
	for i := range 20 {
		for range 60 {
			b.from(fmt.Sprint("192.0.2.", i), orgA, auth.NewKey(orgA))
		}
	}
	b.play(t, []step{
		{0, "192.0.2.1", "bad", wrongly, 2}, // the organization's account is as it was
		{0, "192.0.2.1", "k1", in, 1},
	})
	for i := range 30 {
		b.guess(fmt.Sprint("198.51.100.", i), orgA, 50)
	}
	if got := b.from("198.51.100.1", orgA, auth.NewKey(orgA)); got != wrongly {
		t.Errorf("a key made for an organization that is guessed at: %s, want it looked at", got)
	}
}

// Whatever is tried, an organization that there isn't answers as one that there is.
func TestUnknownOrganizationIsNotToldApart(t *testing.T) {
	story := func(org uuid.UUID) (lines []string) {
		b := newBench(t, Config{})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}, orgB: {3, 4}}))
		for n := range 400 {
			b.now.Store(int64(n / 50))
			b.compared.Store(0)
			address, key := fmt.Sprint("192.0.2.", n%12), fmt.Sprint("bad", n%140)
			_, err := b.Verify(context.Background(), auth.Credentials{Org: org, Key: key}, auth.Client{Address: address})
			lines = append(lines, fmt.Sprint(n, fault.From(err).Message, fault.From(err).RetryAfter, b.compared.Load()))
		}
		return lines
	}
	if diff := cmp.Diff(story(orgA), story(uuid.New())); diff != "" {
		t.Errorf("known and unknown organization:\n%s", diff)
	}
}

// Who leaves after the first of several comparisons has made a guess.
func TestGuessIsPaidForByWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Checks: 1})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}}))
		for i := range 50 {
			release := b.holdUp()
			ctx, cancel := context.WithCancel(t.Context())
			go b.Verify(ctx, auth.Credentials{Org: orgA, Key: fmt.Sprint("bad", i)}, auth.Client{Address: "192.0.2.1"})
			synctest.Wait()
			cancel()
			synctest.Wait()
			release()
			synctest.Wait()
		}
		if n := b.compared.Load(); n != 10 {
			t.Errorf("%d comparisons, want 10", n)
		}
	})
}

// Who leaves while waiting has cost nothing, and leaves nothing behind.
func TestNothingIsPaidForByWhoWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Checks: 1})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}, orgB: {2}}))
		release := b.holdUp()
		go b.from("198.51.100.1", orgB, "k2")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 64 {
			go b.Verify(ctx, auth.Credentials{Org: orgA, Key: fmt.Sprint("bad", i)}, auth.Client{Address: "192.0.2.1"})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		release()
		synctest.Wait()
		if looked := b.guess("192.0.2.1", orgA, 50); looked != 10 {
			t.Errorf("%d guesses were looked at, want 10", looked)
		}
	})
}

func TestLedgerStaysSmall(t *testing.T) {
	suite.Deep(t)
	f, err := newFailures(10, func() time.Time { return time.Unix(0, 0) })
	if err != nil {
		t.Fatal(err)
	}
	fail := func(i int, at int64) {
		f.now = func() time.Time { return time.Unix(at, 0) }
		a, err := f.admit(t.Context(), origin{org: uuid.UUID{byte(i), byte(i >> 8), byte(i >> 16)}, client: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		f.release(a, true)
	}
	for i := range maxAccounts + 100 {
		fail(i, 0)
	}
	if n, m := f.clients.accounts.Len(), f.orgs.accounts.Len(); n != maxAccounts || m != maxAccounts {
		t.Errorf("%d addresses and %d organizations, want %d", n, m, maxAccounts)
	}
	for i := range maxAccounts {
		fail(i, int64(10+i))
	}
	if n, m := f.clients.accounts.Len(), f.orgs.accounts.Len(); n > 100 || m > 100 {
		t.Errorf("%d addresses and %d organizations after a day", n, m)
	}
}
