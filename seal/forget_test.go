package seal_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func readKeys(t testing.TB, from seal.Source) *seal.Master {
	t.Helper()
	master, err := from.Read(t.Context())
	must(t, err)
	return master
}

func wantForgot(t *testing.T, from seal.Source, org uuid.UUID, want seal.Forgot) {
	t.Helper()
	if done, err := from.Forget(t.Context(), org); done != want || err != nil {
		t.Errorf("%+v, %v; want %+v", done, err, want)
	}
}

// TestForget has a copy of an organization's keys, as a backup has one, open until the master keys have forgotten the
// organization, and never again with the file of then. All others' open, and can be made, before and after.
func TestForget(t *testing.T) {
	for what, keeper := range map[string]seal.Keeper{"in the clear": nil, "wrapped": newKeeper("transit")} {
		t.Run(what, func(t *testing.T) {
			from := seal.Source{Path: filepath.Join(t.TempDir(), "master.key"), Keeper: keeper}
			must(t, from.Create(t.Context()))
			first := readKeys(t, from)
			must(t, from.Add(t.Context()))
			gone, stays, backup := uuid.New(), uuid.New(), &sealtest.Memory{}
			before := seal.New(first, backup)
			sealed := mustSeal(t, before, gone, "log", "a", plainText)
			others := mustSeal(t, before, stays, "log", "a", plainText)
			both := seal.New(readKeys(t, from), backup)
			must(t, both.Rotate(t.Context(), gone)) // by the newest

			wantForgot(t, from, gone, seal.Forgot{Keys: 2})
			text := readFile(t, from.Path)
			wantForgot(t, from, gone, seal.Forgot{})
			if readFile(t, from.Path) != text {
				t.Error("the file is another one although nothing was left to do")
			}
			for range 2 {
				master := readKeys(t, from)
				after := seal.New(master, backup)
				_, err := after.Open(t.Context(), gone, "log", "a", sealed)
				wantCode(t, err, fault.SealKeyMissing)
				mustOpen(t, after, stays, "log", "a", others, plainText)
				fresh := uuid.New()
				mustOpen(t, both, fresh, "log", "b", mustSeal(t, after, fresh, "log", "b", plainText), plainText)
				if !sameKeys(first, master) {
					t.Error("marks of before count no more")
				}
				must(t, from.Renew(t.Context())) // and once more
			}
			if info, err := os.Stat(from.Path); err != nil || info.Mode() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			mustOpen(t, seal.New(first, backup), gone, "log", "a", sealed, plainText) // with a copy of the file from before
		})
	}
}

// TestForgottenIsUsedAgain: who has the ID of one that was forgotten needs a new master key, and is told so.
func TestForgottenIsUsedAgain(t *testing.T) {
	from, org := seal.Source{Path: masterFile(t)}, uuid.New()
	wantForgot(t, from, org, seal.Forgot{Keys: 1})
	keys := &sealtest.Memory{}
	_, err := seal.New(readKeys(t, from), keys).Seal(t.Context(), org, "log", "a", nil)
	wantCode(t, err, fault.SealKeyMissing)
	if !strings.Contains(err.Error(), "holdfast seal rotate") {
		t.Error(err)
	}
	must(t, from.Add(t.Context()))
	s := seal.New(readKeys(t, from), keys)
	mustOpen(t, s, org, "log", "a", mustSeal(t, s, org, "log", "a", plainText), plainText)
	if n, err := s.Rewrap(t.Context(), org); n != 0 || err != nil {
		t.Errorf("rewrapped %d, %v", n, err)
	}
}

// TestForgetLeavesWhatItCannotDo changes no file that it can't write whole.
func TestForgetLeavesWhatItCannotDo(t *testing.T) {
	text := seal.Source{Text: strings.Repeat("1f", 32)}
	if _, err := text.Forget(t.Context(), uuid.New()); !errors.Is(err, seal.ErrUnchangeable) {
		t.Error(err)
	}
	one := newKeeper("transit")
	from := seal.Source{Path: filepath.Join(t.TempDir(), "master.key"), Keeper: one}
	must(t, from.Create(t.Context()))
	before := readFile(t, from.Path)
	from.Keeper = forgetful{one}
	if _, err := from.Forget(t.Context(), uuid.New()); err == nil || readFile(t, from.Path) != before {
		t.Errorf("the file has what nobody can unwrap, %v", err)
	}
	none := seal.Source{Path: from.Path + ".none"}
	if _, err := none.Forget(t.Context(), uuid.New()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestForgettingFileRefuses damages what is left of a key.
func TestForgettingFileRefuses(t *testing.T) {
	from := seal.Source{Path: masterFile(t)}
	_, err := from.Forget(t.Context(), uuid.New())
	must(t, err)
	text := readFile(t, from.Path)
	at := strings.LastIndex(text, " ") + 100
	flipped := []byte(text)
	if flipped[at]++; flipped[at] > 'z' || flipped[at] == '[' || flipped[at] == ':' {
		flipped[at] = 'a'
	}
	for what, bad := range map[string]string{"flipped": string(flipped), "cut": text[:len(text)-9] + "\n",
		"none": text[:at-100] + "\n", "of format 2": strings.Replace(text, "key 3", "key 2", 1)} {
		must(t, os.WriteFile(from.Path, []byte(bad), 0o600))
		_, err := from.Read(t.Context())
		if err == nil || strings.Contains(err.Error(), text[at:at+10]) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What a version before had wrapped, for all organizations with one key.
const (
	oldKey     = "0f7d0b7310de99af998b0b736b5b4ef08df41237e8fcb8b12425a5b6e31cecfa"
	oldID      = "6537627a586d06a4"
	oldWrapped = "48464b0001b820ceb28d6bb5cca9b394d0bb440527aa00a9a15d4e1855616284c44d6fd73fda98667c5348183c146dd6a5100b9b" +
		"59a08ee7ae34ab10837133f0d0956ff512fb80c0aec049e5cbef72b57e2a318853"
	oldSealed = "48465300016537627a586d06a4038d669b3f7ff204e0b9f2b17a10e931bd3cd15fc97433c6be0c9cbda00ad5a0be49ce3daad2b17" +
		"23c6cdfcb85923741b448983f3826f5a7e92f1cafe53f14"
)

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(digits)
	must(t, err)
	return raw
}

// TestOlderKeys: a key of an older file wraps as it did, for programs of then, and forgets nobody. One that is made now
// wraps anew by Rewrap, and forgets.
func TestOlderKeys(t *testing.T) {
	org := uuid.MustParse("6f1c2a54-9d0b-4a53-8a3e-1f2e3d4c5b6a")
	from := seal.Source{Path: filepath.Join(t.TempDir(), "master.key")}
	must(t, os.WriteFile(from.Path, []byte("holdfast-master-key 1\n"+oldKey+" 38fd0c11\n"), 0o600))
	keys := &sealtest.Memory{}
	_, err := keys.AddDataKey(t.Context(), org,
		seal.WrappedKey{Number: 1, ID: [8]byte(unhex(t, oldID)), Wrapped: unhex(t, oldWrapped)})
	must(t, err)
	s := seal.New(readKeys(t, from), keys)
	mustOpen(t, s, org, "log", "a", unhex(t, oldSealed), plainText)
	must(t, s.Rotate(t.Context(), org))
	all, err := keys.DataKeys(t.Context(), org)
	if err != nil || len(all) != 2 || all[1].Wrapped[4] != 1 {
		t.Errorf("a new data key has another format, %v", err)
	}
	wantForgot(t, from, org, seal.Forgot{Older: 1})
	mustOpen(t, seal.New(readKeys(t, from), keys), org, "log", "a", unhex(t, oldSealed), plainText)

	must(t, from.Add(t.Context()))
	s = seal.New(readKeys(t, from), keys)
	for _, want := range []int{2, 0} {
		if n, err := s.Rewrap(t.Context(), org); n != want || err != nil {
			t.Errorf("rewrapped %d, %v; want %d", n, err, want)
		}
	}
	mustOpen(t, s, org, "log", "a", unhex(t, oldSealed), plainText)
	wantForgot(t, from, org, seal.Forgot{Keys: 1, Older: 1})
	_, err = seal.New(readKeys(t, from), keys).Open(t.Context(), org, "log", "a", unhex(t, oldSealed))
	wantCode(t, err, fault.SealKeyMissing)
	if !errors.Is(err, seal.ErrForgotten) {
		t.Error(err)
	}
}

// TestOneChangesAMasterFile has many change a file at once: no key is lost, and whoever was told that an organization
// is forgotten was told the truth.
func TestOneChangesAMasterFile(t *testing.T) {
	from := seal.Source{Path: masterFile(t)}
	var orgs [20]uuid.UUID
	var wait sync.WaitGroup
	for i := range orgs {
		orgs[i] = uuid.New()
		wait.Go(func() {
			if _, err := from.Forget(t.Context(), orgs[i]); err != nil {
				t.Error(err)
			}
		})
		if i%4 == 0 {
			wait.Go(func() {
				if err := from.Add(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	if n := strings.Count(readFile(t, from.Path), "\n") - 3; n != 1+len(orgs)/4 {
		t.Errorf("%d keys are left", n)
	}
	for _, org := range orgs { // the first key, which is the last line, had all of them forgotten
		done, err := from.Forget(t.Context(), org)
		if err != nil || done.Keys > len(orgs)/4 {
			t.Errorf("%+v, %v", done, err)
		}
	}
}

// TestForgetFollowsLinks: the file that a link leads to forgets, and the link stays.
func TestForgetFollowsLinks(t *testing.T) {
	file, link, org := masterFile(t), filepath.Join(t.TempDir(), "link"), uuid.New()
	must(t, os.Symlink(file, link))
	wantForgot(t, seal.Source{Path: link}, org, seal.Forgot{Keys: 1})
	wantForgot(t, seal.Source{Path: file}, org, seal.Forgot{})
	if to, err := os.Readlink(link); err != nil || to != file {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}
