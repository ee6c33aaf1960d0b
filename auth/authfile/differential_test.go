package authfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/ini.v1"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// settings are what both readers must agree on: for each section its settings and their
// values, sorted. A bare hash is an apikey.
type settings map[string]map[string][]string

func (s settings) add(section, setting, value string) {
	s[section][setting] = append(s[section][setting], value)
	slices.Sort(s[section][setting])
}

func ours(d *Document) settings {
	all, current := make(settings), ""
	for _, l := range d.lines {
		switch l.kind {
		case lineSection:
			current = l.value
			all[current] = make(map[string][]string)
		case lineSetting:
			all.add(current, l.setting, l.value)
		}
	}
	return all
}

// theirs leaves out what a sub-section has from the one above it: ini.v1 calls those its
// parent's keys.
func theirs(t *testing.T, text string) settings {
	t.Helper()
	f, err := ini.LoadSources(ini.LoadOptions{AllowShadows: true, AllowBooleanKeys: true}, []byte(text))
	if err != nil {
		t.Fatalf("ini.v1 refuses what we accept: %v\n%q", err, text)
	}
	all := make(settings)
	for _, sec := range f.Sections() {
		if sec.Name() == ini.DefaultSection {
			if len(sec.Keys()) > 0 {
				t.Fatalf("ini.v1 sees settings outside a section in %q", text)
			}
			continue
		}
		all[sec.Name()] = make(map[string][]string)
		for _, key := range sec.Keys() {
			addTheirs(all, sec.Name(), key)
		}
	}
	return all
}

func addTheirs(all settings, section string, key *ini.Key) {
	if strings.HasPrefix(key.Name(), "$2") {
		all.add(section, "apikey", key.Name())
		return
	}
	values := key.ValueWithShadows()
	if len(values) == 1 {
		values = []string{key.String()} // with references followed, and quotations undone
	}
	for _, value := range values {
		all.add(section, key.Name(), value)
	}
}

// checkMeaning holds what the document says against its lines.
func checkMeaning(t *testing.T, d *Document, all settings) {
	t.Helper()
	for _, o := range d.Organizations() {
		sections := []string{d.lines[o.span.first].value}
		var hashes []string
		for _, k := range o.Keys {
			hashes = append(hashes, k.Hash)
			if k.Name != "" {
				sections = append(sections, d.lines[d.keys[k.Hash].span.first].value)
			}
		}
		var want []string
		for _, name := range sections {
			want = append(want, all[name]["apikey"]...)
		}
		slices.Sort(want)
		slices.Sort(hashes)
		if !slices.Equal(hashes, want) {
			t.Fatalf("organization %s has the hashes %q, its sections %q", o.ID, hashes, want)
		}
		if name := strings.Join(all[sections[0]]["name"], ""); o.Name != name {
			t.Fatalf("organization %s has the name %q, its section %q", o.ID, o.Name, name)
		}
	}
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
	read := ours(d)
	if diff := cmp.Diff(theirs(t, text), read); diff != "" {
		t.Fatalf("ini.v1 and we read %q differently (-theirs +ours):\n%s", text, diff)
	}
	checkMeaning(t, d, read)
}

// seeds are texts around the places where INI readers differ.
func seeds() []string {
	head := "[11111111-2222-3333-4444-555555555555]\n"
	values := []string{
		"name = Acme", "name=Acme ; x", "name: A = B", "name = 'Acme'", "name = A'", "name = it's", "name = \"\"\"A",
		"name = `A", "name = %(apikey)s", "name = A\\", "name = A ; \\", "name = A\n  B", "\tname = \u00a0A\u00a0",
		"\"name\" = A",
		"apikey = " + fakeHash(1), "apikey : " + fakeHash(1) + " # a:b=c", fakeHash(1), fakeHash(1) + " ; x", fakeHash(1) +
			" ; x=y",
		fakeHash(1) + "\n" + fakeHash(2), "apikey = " + fakeHash(1) + "\napikey = " + fakeHash(2) + "\n" + fakeHash(3),
		"- = x", "; [x]", "[AAAAAAAA-bbbb-cccc-dddd-eeeeeeeeeeee] # x\nname = B",
	}
	all := []string{"", "\n", "\ufeff", "\ufeff" + head, strings.TrimSpace(head), head[:len(head)-1] + " ; x",
		"[DEFAULT]\nname = A"}
	for _, v := range values {
		all = append(all, head+v, head+v+"\n", head+v+"\r\n"+"; end\r\n")
	}
	return append(all, sectionSeeds(head)...)
}

// sectionSeeds are texts with every kind of section and setting.
func sectionSeeds(head string) []string {
	under := func(name string) string { return head + "[11111111-2222-3333-4444-555555555555." + name + "]\n" }
	key := under("ci") + "apikey = " + fakeHash(1) + " ; ci\nrole = reader\n"
	token := under("oidc.github") +
		"issuer = https://token.example.com\naudience: holdfast\nrole = writer\nclaims.sub = " +
		"repo:acme/*:ref:refs/heads/main\n"
	cert := under("cert.ci") + "role=outputs\nsan = dns:ci.acme.example, uri:spiffe://acme/ci # x\nsan = ip:2001:db8::1\n"
	all := []string{
		key, token, cert, head + "rate_limit = 60\nstate_rate_limit : off ; none\n",
		key + token[len(head):] + cert[len(head):], key[len(head):],
		under("ci") + fakeHash(1) + "\nrole = owner", strings.ToUpper(head) + key[len(head):],
	}
	all = append(all, head+"alias = 42, 77:shop ; x\nalias: group/project:a/b\n")
	kept := under("states.prod") + "states = prod/*\nguards : hold ; x\n"
	all = append(all, kept, head+
		"lock_ttl = 2h\nrequire_lock=true\nkeep_versions = off\nnotify_url = https://hooks.example.com/a?b=c:d # x\n"+
		kept[len(head):])
	for _, v := range []string{
		"states = prod/*, shared/network", "expires = 2027-01-31", "expires = 2027-01-31T12:00:00+01:00",
		"from = 10.0.0.0/8, 2001:db8::1", "from = 10.0.0.1, 10.0.0.1", "name = x", "role = writer",
	} {
		all = append(all, key+v, key+"\t"+v+" ; x\r\n", token+v, cert+v)
	}
	for _, v := range []string{
		"claims.a.b/c = *", "claims.x = 'quoted'", "claims.x = `a", "claims.x = %(issuer)s", "claims.x = a\\",
		"claims.x = a\"b\"",
		"claims. = a", "claims.\"x\" = a", "claims.- = a", "claims.x =", "claims.x : = ", "claims.x = \u00a0*\u00a0",
	} {
		all = append(all, token+v)
	}
	return all
}

func TestReadsLikeINI(t *testing.T) {
	for _, text := range seeds() {
		compareReaders(t, text)
	}
}

func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(compareReaders)
}
