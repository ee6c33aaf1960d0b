package verify

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/logctx"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

// journal is what the verifier logged.
type journal struct{ logtest.Journal }

func (j *journal) logger() *slog.Logger {
	return slog.New(logctx.Handler(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// bench is a verifier whose comparisons are instant, counted, and can be held up.
type bench struct {
	*Verifier
	log      journal
	now      atomic.Int64 // seconds
	compared atomic.Int64
	hold     atomic.Pointer[chan struct{}]
}

func newBench(t *testing.T, c Config) *bench {
	t.Helper()
	b := &bench{}
	c.Logger = b.log.logger()
	if c.Now == nil {
		c.Now = func() time.Time { return time.Unix(b.now.Load(), 0) }
	}
	v, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	v.compare = func(hash, key string) bool {
		b.compared.Add(1)
		if hold := b.hold.Load(); hold != nil {
			<-*hold
		}
		return hash == hashOf(key)
	}
	b.Verifier = v
	return b
}

// holdUp makes comparisons wait for the function that it returns.
func (b *bench) holdUp() (release func()) {
	hold := make(chan struct{})
	b.hold.Store(&hold)
	return func() { b.hold.Store(nil); close(hold) }
}

// hashOf is the stand-in for bcrypt: keys are "k1", "k2" and so on.
func hashOf(key string) string {
	var n int
	if _, err := fmt.Sscanf(key, "k%d", &n); err != nil {
		return ""
	}
	return fakeHash(n)
}

func ring(t *testing.T, orgs map[uuid.UUID][]int) *keyring.Keyring {
	t.Helper()
	var text strings.Builder
	for id, keys := range orgs {
		fmt.Fprintf(&text, "[%s]\nname = Org\n", id)
		for _, k := range keys {
			fmt.Fprintln(&text, fakeHash(k))
		}
	}
	return parse(t, text.String())
}

func (b *bench) try(org uuid.UUID, key string) (auth.Principal, error) {
	return b.Verify(context.Background(), auth.Credentials{Org: org, Key: key},
		auth.Client{Address: "192.0.2.1", Request: "req-1"})
}

func TestVerifySaysWhoIsCalling(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}, orgB: {3}}))
	got, err := b.try(orgA, "k2")
	want := auth.Principal{Org: orgA, OrgName: "Org",
		KeyID: parse(t, "["+orgA.String()+"]\n"+fakeHash(2)).WithKeys[0].Keys[0].ID, Grant: auth.Grant{Role: auth.Owner},
		Address: "192.0.2.1", Request: "req-1"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestVerifyCostsTheSameForWhoeverIsWrong(t *testing.T) {
	long := "k1" + strings.Repeat("x", auth.MaxKeyLength)
	for _, c := range []struct {
		name string
		org  uuid.UUID
		key  string
	}{
		{"wrong key", orgA, "k9"},
		{"another organization's key", orgA, "k3"},
		{"unknown organization", uuid.New(), "k9"},
		{"unknown organization, another's key", uuid.New(), "k1"},
		{"no organization", uuid.Nil, "k1"},
		{"organization without keys", orgB, "k1"},
		{"empty key", orgA, ""},
		{"key too long", orgA, long},
		{"key with NUL", orgA, "k1\x00k1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Config{})
			b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2}, orgB: nil, uuid.New(): {3, 4}}))
			for _, want := range []int64{2, 0} { // the second time, it is known to be wrong
				b.compared.Store(0)
				got, err := b.try(c.org, c.key)
				if !fault.Is(err, fault.CredentialsWrong) || got != (auth.Principal{}) {
					t.Errorf("got %+v, %v", got, err)
				}
				if n := b.compared.Load(); n != want {
					t.Errorf("%d comparisons, want %d", n, want)
				}
			}
		})
	}
}

func TestVerifyWithoutOrganizationsStillCompares(t *testing.T) {
	b := newBench(t, Config{})
	if _, err := b.try(orgA, "k1"); !fault.Is(err, fault.CredentialsWrong) {
		t.Error(err)
	}
	if n := b.compared.Load(); n != 1 {
		t.Errorf("%d comparisons, want 1", n)
	}
}

func TestVerifiedKeyIsRememberedForATime(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}, orgB: {2}}))
	for _, c := range []struct {
		org  uuid.UUID
		at   int64
		want int64
	}{{orgA, 0, 1}, {orgA, 299, 1}, {orgA, 300, 2}, {orgB, 301, 3}} {
		b.now.Store(c.at)
		b.try(c.org, "k1") // for orgB it is wrong, and what orgA's key was worth doesn't help
		if n := b.compared.Load(); n != c.want {
			t.Errorf("after %d s: %d comparisons, want %d", c.at, n, c.want)
		}
	}
}

func TestRememberedKeysAreBounded(t *testing.T) {
	b := newBench(t, Config{RememberKeys: 2})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}, orgB: {2}, uuid.New(): {3}}))
	for range 3 {
		for id, o := range b.current.Load().Organizations {
			n := strings.TrimLeft(o.Keys[0].Hash[50:], "0")
			if _, err := b.try(id, "k"+n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := b.verified.entries.Len(); n != 2 {
		t.Errorf("%d remembered, want 2", n)
	}
}

func TestReloadForgets(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	if _, err := b.try(orgA, "k1"); err != nil {
		t.Fatal(err)
	}
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {2}}))
	if _, err := b.try(orgA, "k1"); !fault.Is(err, fault.CredentialsWrong) {
		t.Errorf("a removed key: %v", err)
	}
	if _, err := b.try(orgA, "k2"); err != nil {
		t.Errorf("an added key: %v", err)
	}
}

func TestReloadDuringACheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		after []int
		good  bool
	}{{"key removed", []int{2}, false}, {"key kept", []int{2, 1}, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Config{})
				b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
				release := b.holdUp()
				var err error
				go func() { _, err = b.try(orgA, "k1") }()
				synctest.Wait()
				b.Use(ring(t, map[uuid.UUID][]int{orgA: c.after}))
				release()
				synctest.Wait()
				if c.good != (err == nil) || (!c.good && !fault.Is(err, fault.CredentialsWrong)) {
					t.Errorf("error %v", err)
				}
				// What the old keyring said must not have been remembered either.
				if _, err := b.try(orgA, "k1"); c.good != (err == nil) {
					t.Errorf("a moment later: %v", err)
				}
			})
		})
	}
}

func TestHerdCostsOneComparison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Checks: 1})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
		release := b.holdUp()
		var failed atomic.Int64
		for i := range 500 {
			go func() {
				from := auth.Client{Address: fmt.Sprint("192.0.2.", i%10)}
				if _, err := b.Verify(context.Background(), auth.Credentials{Org: orgA, Key: "k1"}, from); err != nil {
					failed.Add(1)
				}
			}()
		}
		synctest.Wait()
		release()
		synctest.Wait()
		if failed.Load() != 0 || b.compared.Load() != 1 {
			t.Errorf("%d failed after %d comparisons", failed.Load(), b.compared.Load())
		}
	})
}

func TestFloodOfBadKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Checks: 1})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}, orgB: {2}}))
		if _, err := b.try(orgA, "k1"); err != nil {
			t.Fatal(err)
		}
		release := b.holdUp()
		var tooMany, wrong atomic.Int64
		for i := range 100 {
			go func() {
				_, err := b.try(orgA, fmt.Sprint("bad", i))
				switch f := fault.From(err); f.Code {
				case fault.TooManyFailures:
					tooMany.Add(1)
				case fault.CredentialsWrong:
					wrong.Add(1)
				}
			}()
		}
		synctest.Wait()
		if _, err := b.try(orgA, "k1"); err != nil { // it would deadlock here if it waited
			t.Errorf("a remembered key: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Verify(ctx, auth.Credentials{Org: orgB, Key: "k2"}, auth.Client{}); !fault.Is(err, fault.Busy) ||
			fault.From(err).RetryAfter != time.Second {
			t.Errorf("out of patience: %v", err)
		}
		release()
		synctest.Wait()
		if tooMany.Load() != 90 || wrong.Load() != 10 {
			t.Errorf("%d too many, %d wrong", tooMany.Load(), wrong.Load())
		}
	})
}

func TestNoKeyInLogsOrErrors(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	secret := auth.NewKey(orgA)
	var attrs logctx.Attrs
	attrs.Add(slog.String("request_id", "req-7"))
	ctx := context.WithValue(context.Background(), logctx.Key{}, &attrs)
	cred := auth.Credentials{Org: orgA, Key: secret}
	_, err := b.Verify(ctx, cred, auth.Client{Address: "192.0.2.1"})
	all := b.log.String() + err.Error() + fmt.Sprintf("%v %+v %#v %s", cred, cred, cred, &cred)
	if strings.Contains(all, secret[27:]) {
		t.Errorf("the key is in %s", all)
	}
	for _, want := range []string{"level=WARN", "organization=" + orgA.String(), "client=192.0.2.1", "request_id=req-7"} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("%q is not in the log: %s", want, b.log.String())
		}
	}
}

// Who named no organization is told apart in the log, without what may be a secret in the wrong
// place.
func TestLogSaysWhatWasSent(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	for name, want := range map[string]string{"gitlab-ci-token": "organization=gitlab-c…", "basic": "organization=basic",
		"": "organization=" + uuid.Nil.String()} {
		if _, err := b.Verify(t.Context(), auth.Credentials{Key: "wrong " + name, Name: name},
			auth.Client{Address: "192.0.2.1"}); err == nil {
			t.Error("nobody's key is good")
		}
		if got := b.log.String(); !strings.Contains(got, want) {
			t.Errorf("%q is not in the log: %s", want, got)
		}
	}
}

func TestVerifyWithBcrypt(t *testing.T) {
	key := auth.NewKey(orgA)
	hash, err := authfile.HashKey(key)
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	v.Use(parse(t, "["+orgA.String()+"]\n"+hash+"\n"))
	for _, c := range []struct {
		key  string
		good bool
	}{{key, true}, {key[:69] + "!", false}, {key + "xxx", false}} {
		if _, err := v.Verify(t.Context(), auth.Credentials{Org: orgA, Key: c.key}, auth.Client{}); c.good != (err == nil) {
			t.Errorf("a key of %d bytes: %v", len(c.key), err)
		}
	}
}

// What an edit takes from a key while it is being checked is gone when the check ends.
func TestReloadNarrowsAKeyDuringItsCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
		release := b.holdUp()
		var got auth.Principal
		go func() { got, _ = b.try(orgA, "k1") }()
		synctest.Wait()
		narrow := keyring.StoredKey{Hash: fakeHash(1), Grant: auth.Grant{Role: auth.Reader}}
		b.Use(keyring.New(&keyring.Organization{ID: orgA, Keys: []keyring.StoredKey{narrow}}))
		release()
		synctest.Wait()
		if got.Role != auth.Reader {
			t.Errorf("it came in as %q", got.Role)
		}
		if got, _ := b.try(orgA, "k1"); got.Role != auth.Reader {
			t.Errorf("a moment later, it came in as %q", got.Role)
		}
	})
}
