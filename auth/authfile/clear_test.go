package authfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

// A key in the clear is refused wherever it stands, and isn't shown.
func TestKeysInTheClearAreRefused(t *testing.T) {
	const head = "[11111111-2222-3333-4444-555555555555]\n"
	key := auth.NewKey(orgA)
	for name, text := range map[string]string{
		"name":                  head + "name = " + key + "\n",
		"part of a name":        head + "name = ours: " + key + ", new\n",
		"comment on a name":     head + "name = Acme # " + key + "\n",
		"label":                 head + "apikey = " + fakeHash(1) + " ; " + key + "\n",
		"label of a bare hash":  head + fakeHash(1) + " ; " + key + "\n",
		"comment":               head + "; " + key + "\n",
		"comment of a setting":  head + "# apikey=" + key + "\n",
		"value":                 head + "apikey = " + key + "\n",
		"bare value":            head + key + "\n",
		"unknown setting":       head + "key = " + key + "\n",
		"last line":             head + key,
		"section":               "; ours\n[" + key + "]\nname = Acme\n",
		"comment on a section":  "; ours\n" + head[:len(head)-1] + " ; " + key + "\nname = Acme\n",
		"longer than a key":     head + "; x" + key + "x\n",
		"two in one line":       head + "; " + key + " " + auth.NewKey(orgB) + "\n",
		"in a continued line":   head + "; " + key + `\` + "\n",
		"with a control letter": head + "; " + key + "\x1b\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("auth.cfg", text)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), "auth.cfg:2: a key in the clear") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one fault in line 2", err)
			}
			if strings.Contains(err.Error(), key[len("hfk_"):]) {
				t.Errorf("the error shows the key: %q", err)
			}
		})
	}
	mustParse(t, head+"name = hfk_ and more\n; keys look like hfk_"+strings.Repeat("x", 22)+"_…\n")
}

func TestEditsStoreNoKeyInTheClear(t *testing.T) {
	key := auth.NewKey(orgA)
	d := mustParse(t, oneOrg)
	for what, err := range map[string]error{
		"name":  d.AddOrganization(orgB, key),
		"label": func() error { _, err := d.AddKey(orgA, fakeHash(1), "laptop "+key); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "it contains a key") || strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if d.String() != oneOrg {
		t.Errorf("a failed edit left\n%s", d)
	}
}

func TestOneHashInTwoVersionsIsTheSame(t *testing.T) {
	for _, version := range []string{"$2a", "$2b", "$2y"} {
		again := version + fakeHash(1)[3:]
		_, err := Parse("auth.cfg", oneOrg+fakeHash(1)+"\n["+orgB.String()+"]\napikey = "+again+" ; copied\n")
		if err == nil || err.Error() != "auth.cfg:5: the same hash as in line 3" {
			t.Errorf("%s: error %v", version, err)
		}
	}
}

// All who find no file say the same, and say it once.
func TestMissingFileIsExplained(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "auth.cfg")
	dangling := filepath.Join(t.TempDir(), "auth.cfg")
	must(t, os.Symlink("nowhere", dangling))
	b := newBench()
	for _, path := range []string{missing, dangling} {
		_, loaded := Load(path)
		_, watched := Watch(t.Context(), WatchConfig{Path: path, Use: b.use})
		for what, err := range map[string]error{"load": loaded, "watch": watched, "edit": addFake(t.Context(), path, 1)} {
			if !errors.Is(err, fs.ErrNotExist) ||
				!strings.HasPrefix(err.Error(), "there is no "+path+"; `holdfast init` makes one: ") {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if strings.Contains(err.Error(), "stat ") || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: %v, which says it twice", what, err)
			}
		}
	}
}
