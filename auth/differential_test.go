package auth

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"gopkg.in/ini.v1"
)

// section is what both readers must agree on.
type section struct {
	Name   string
	Hashes []string
}

func ours(d *Document) map[uuid.UUID]section {
	all := make(map[uuid.UUID]section)
	for _, o := range d.Organizations() {
		s := section{Name: o.Name}
		for _, k := range o.Keys {
			s.Hashes = append(s.Hashes, k.Hash)
		}
		slices.Sort(s.Hashes)
		all[o.ID] = s
	}
	return all
}

func theirs(t *testing.T, text string) map[uuid.UUID]section {
	t.Helper()
	f, err := ini.LoadSources(ini.LoadOptions{AllowShadows: true, AllowBooleanKeys: true}, []byte(text))
	if err != nil {
		t.Fatalf("ini.v1 refuses what we accept: %v\n%q", err, text)
	}
	all := make(map[uuid.UUID]section)
	for _, sec := range f.Sections() {
		if sec.Name() == ini.DefaultSection {
			if len(sec.Keys()) > 0 {
				t.Fatalf("ini.v1 sees settings outside a section in %q", text)
			}
			continue
		}
		s := section{}
		for _, key := range sec.Keys() {
			switch key.Name() {
			case "name":
				s.Name = key.String()
			case "apikey":
				s.Hashes = append(s.Hashes, key.ValueWithShadows()...)
			default:
				s.Hashes = append(s.Hashes, key.Name())
			}
		}
		slices.Sort(s.Hashes)
		all[uuid.MustParse(sec.Name())] = s
	}
	return all
}

func compareReaders(t *testing.T, text string) {
	t.Helper()
	d, err := Parse("auth.cfg", text)
	if err != nil {
		return
	}
	if d.String() != text {
		t.Fatalf("rendered %q, want %q", d.String(), text)
	}
	if diff := cmp.Diff(theirs(t, text), ours(d)); diff != "" {
		t.Fatalf("ini.v1 and we read %q differently (-theirs +ours):\n%s", text, diff)
	}
}

// seeds are texts around the places where INI readers differ.
func seeds() []string {
	head := "[11111111-2222-3333-4444-555555555555]\n"
	values := []string{
		"name = Acme", "name=Acme ; x", "name: A = B", "name = 'Acme'", "name = A'", "name = it's", "name = \"\"\"A",
		"name = `A", "name = %(apikey)s", "name = A\\", "name = A ; \\", "name = A\n  B", "\tname = \u00a0A\u00a0", "\"name\" = A",
		"apikey = " + fakeHash(1), "apikey : " + fakeHash(1) + " # a:b=c", fakeHash(1), fakeHash(1) + " ; x", fakeHash(1) + " ; x=y",
		fakeHash(1) + "\n" + fakeHash(2), "apikey = " + fakeHash(1) + "\napikey = " + fakeHash(2) + "\n" + fakeHash(3),
		"- = x", "; [x]", "[AAAAAAAA-bbbb-cccc-dddd-eeeeeeeeeeee] # x\nname = B",
	}
	all := []string{"", "\n", "\ufeff", "\ufeff" + head, strings.TrimSpace(head), head[:len(head)-1] + " ; x", "[DEFAULT]\nname = A"}
	for _, v := range values {
		all = append(all, head+v, head+v+"\n", head+v+"\r\n"+"; end\r\n")
	}
	return all
}

func TestReadsLikeINI(t *testing.T) {
	for _, text := range seeds() {
		compareReaders(t, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(compareReaders)
}
