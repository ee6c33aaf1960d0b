package seal_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func TestOpensWhatWasSealed(t *testing.T) {
	master, keys := newMaster(t), &sealtest.Memory{}
	rapid.Check(t, func(rt *rapid.T) {
		s, org := seal.New(master, keys), uuid.New()
		kind := seal.Kind(rapid.StringN(1, -1, -1).Draw(rt, "kind"))
		name, plain := rapid.String().Draw(rt, "name"), rapid.SliceOf(rapid.Byte()).Draw(rt, "plain")
		sealed, err := s.Seal(t.Context(), org, kind, name, plain)
		must(t, err)
		// Another process opens it.
		got, err := seal.New(master, keys).Open(t.Context(), org, kind, name, sealed)
		if err != nil || !bytes.Equal(got, plain) {
			rt.Fatalf("opened %q, %v", got, err)
		}
	})
}

func TestOpensAsNothingElse(t *testing.T) {
	s, org, other := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New(), uuid.New()
	sealed := mustSeal(t, s, org, "plan", "run/1", plainText)
	mustSeal(t, s, other, "plan", "run/1", "its own") // so that it has a key
	mustOpen(t, s, org, "plan", "run/1", sealed, plainText)
	for _, c := range []struct {
		org        uuid.UUID
		kind, name string
	}{
		{other, "plan", "run/1"}, {uuid.New(), "plan", "run/1"}, {org, "log", "run/1"}, {org, "plan", "run/2"},
		{org, "planr", "un/1"}, {org, "pla", "nrun/1"}, {org, "plan", ""}, {org, "plan", "run/1\x00"},
	} {
		got, err := s.Open(t.Context(), c.org, seal.Kind(c.kind), c.name, sealed)
		if got != nil {
			t.Errorf("%v opened %q", c, got)
		}
		wantCode(t, err, fault.SealCorrupt, fault.SealKeyMissing)
	}
}

// Where the kind ends and the name begins counts, however these are made up.
func TestKindAndNameDoNotRunTogether(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	sealed := mustSeal(t, s, org, "a", "\x00\x00\x00\x01b", plainText)
	_, err := s.Open(t.Context(), org, "a\x00\x00\x00\x05", "b", sealed)
	wantCode(t, err, fault.SealCorrupt)
}

// Every bit counts, and every byte.
func TestDamageIsRefused(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	sealed := mustSeal(t, s, org, "log", "a", plainText)
	refuse := func(what string, damaged []byte) {
		t.Helper()
		got, err := s.Open(t.Context(), org, "log", "a", damaged)
		if got != nil || err == nil {
			t.Fatalf("%s: opened %q, %v", what, got, err)
		}
		wantCode(t, err, fault.SealCorrupt, fault.SealKeyMissing)
		if strings.Contains(err.Error(), "hunter2") {
			t.Fatalf("%s: the error is %v", what, err)
		}
	}
	for i := range len(sealed) * 8 {
		damaged := bytes.Clone(sealed)
		damaged[i/8] ^= 1 << (i % 8)
		refuse(fmt.Sprintf("bit %d", i), damaged)
	}
	for n := range sealed {
		refuse(fmt.Sprintf("%d bytes", n), sealed[:n])
	}
	refuse("longer", append(bytes.Clone(sealed), 0))
}

func TestUnknownFormatIsNamed(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	sealed := mustSeal(t, s, org, "log", "a", plainText)
	sealed[4] = 2
	if _, err := s.Open(t.Context(), org, "log", "a", sealed); err == nil ||
		!strings.Contains(err.Error(), "format is 2") {
		t.Errorf("the error is %v", err)
	}
}

// The plaintext is nowhere in what is sealed, and equal things are sealed to different ones.
func TestNothingShows(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	a, b := mustSeal(t, s, org, "log", "name", plainText), mustSeal(t, s, org, "log", "name", plainText)
	if bytes.Contains(a, []byte("hunter2")) || bytes.Contains(a, []byte("name")) || bytes.Equal(a[13:], b[13:]) {
		t.Errorf("sealed to\n%q\n%q", a, b)
	}
}

// A nonce is 24 bytes behind the header. All of its bits are drawn anew for each message: none
// is there twice, and no bit of it stands still.
func TestNoncesDoNotRepeat(t *testing.T) {
	const messages = 20_000
	master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
	seen, ones := map[string]bool{}, [24 * 8]int{}
	for range 2 { // processes
		s := seal.New(master, keys)
		for range messages / 2 {
			nonce := mustSeal(t, s, org, "log", "a", "")[13 : 13+24]
			seen[string(nonce)] = true
			for bit := range ones {
				ones[bit] += int(nonce[bit/8] >> (bit % 8) & 1)
			}
		}
	}
	if len(seen) != messages {
		t.Errorf("%d messages have %d nonces", messages, len(seen))
	}
	for bit, n := range ones {
		// Twelve standard deviations.
		if n < messages/2-850 || n > messages/2+850 {
			t.Errorf("bit %d is set in %d of %d nonces", bit, n, messages)
		}
	}
}

func TestMistakesAreRefused(t *testing.T) {
	s := seal.New(newMaster(t), &sealtest.Memory{})
	_, err1 := s.Seal(t.Context(), uuid.Nil, "log", "a", nil)
	_, err2 := s.Seal(t.Context(), uuid.New(), "", "a", nil)
	_, err3 := s.Open(t.Context(), uuid.Nil, "log", "a", nil)
	_, err4 := s.Sum(t.Context(), uuid.New(), "", nil)
	if err1 == nil || err2 == nil || err3 == nil || err4 == nil {
		t.Error(err1, err2, err3, err4)
	}
}

func TestSum(t *testing.T) {
	master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
	s := seal.New(master, keys)
	sum := func(org uuid.UUID, kind seal.Kind, data ...string) [32]byte {
		var parts [][]byte
		for _, d := range data {
			parts = append(parts, []byte(d))
		}
		got, err := s.Sum(t.Context(), org, kind, parts...)
		must(t, err)
		return got
	}
	was := sum(org, "config", "ab", "c")
	for i, other := range [][32]byte{
		sum(org, "config", "a", "bc"), sum(org, "config", "abc"), sum(org, "config", "ab", "c", ""), sum(org, "config"),
		sum(org, "configab", "c"), sum(org, "log", "ab", "c"), sum(uuid.New(), "config", "ab", "c"),
	} {
		if other == was {
			t.Errorf("sum %d is the same", i)
		}
	}
	// Neither a new data key nor a new process changes it.
	must(t, s.Rotate(t.Context(), org))
	if sum(org, "config", "ab", "c") != was {
		t.Error("a rotation changed the sum")
	}
	s = seal.New(master, keys)
	if sum(org, "config", "ab", "c") != was {
		t.Error("another process has another sum")
	}
}

// Whoever prints what holds keys, by mistake, prints none.
func TestKeysDoNotPrint(t *testing.T) {
	path := masterFile(t)
	lines := strings.Split(strings.TrimSpace(readFile(t, path)), "\n")
	secret, _, _ := strings.Cut(lines[len(lines)-1], " ")
	master, err := seal.ReadMasterFile(path)
	must(t, err)
	s, org := seal.New(master, &sealtest.Memory{}), uuid.New()
	mustSeal(t, s, org, "log", "a", plainText)
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("made", "master", master, "sealer", s)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("made", "master", master, "sealer", s)
	fmt.Fprintf(&out, "%v %+v %#v %s %x %d %v %+v %#v", master, master, master, master, master, master, s, s, s)
	for _, hidden := range []string{secret, secret[:16], fmt.Sprint([]byte(secret)[:4])} {
		if strings.Contains(strings.ToLower(out.String()), hidden) {
			t.Errorf("printed %s", out.String())
		}
	}
}

// FuzzOpen: whatever is opened is refused with a fault, or was sealed like that.
func FuzzOpen(f *testing.F) {
	fuzzseeds.Add(f)
	s, org := seal.New(newMaster(f), &sealtest.Memory{}), uuid.New()
	sealed := mustSeal(f, s, org, "log", "a", plainText)
	f.Add([]byte(nil), 0, byte(0))
	f.Add([]byte("HFS\x00\x01"), 0, byte(0))
	f.Add([]byte("HFS\x00\x02xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), 40, byte(1))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		// Of random bytes, and of what was sealed with some of them in it.
		mixed := bytes.Clone(sealed)
		if at >= 0 && at < len(mixed) {
			mixed[at] ^= flip
			mixed = append(mixed[:at:at], append(bytes.Clone(data), mixed[at:]...)...)
		}
		for _, text := range [][]byte{data, mixed} {
			got, err := s.Open(t.Context(), org, "log", "a", text)
			if bytes.Equal(text, sealed) {
				if err != nil || string(got) != plainText {
					t.Fatalf("opened %q, %v", got, err)
				}
				continue
			}
			if err == nil || got != nil {
				t.Fatalf("%q opened to %q", text, got)
			}
			wantCode(t, err, fault.SealCorrupt, fault.SealKeyMissing)
		}
	})
}
