package authfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

func TestEditsKeepTheRest(t *testing.T) {
	before := "# ours\r\n\r\n" +
		"[11111111-2222-3333-4444-555555555555]\r\n" +
		"name = Acme\r\n" +
		"apikey = " + fakeHash(1) + " ; old\r\n" +
		"\r\n" +
		"; the second\r\n" +
		"[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]"
	d := mustParse(t, before)
	if _, err := d.AddKey(orgA, fakeHash(2), "laptop"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AddKey(orgB, fakeHash(3), ""); err != nil {
		t.Fatal(err)
	}
	if left, err := d.RevokeKey(orgA, keyID(fakeHash(1))); err != nil || left != 1 {
		t.Fatalf("revoke: %d left, error %v", left, err)
	}
	third := uuid.MustParse("99999999-2222-3333-4444-555555555555")
	if err := d.AddOrganization(third, "Zürich #1"); err == nil {
		t.Error("a name with # was accepted")
	}
	if err := d.AddOrganization(third, "Zürich"); err != nil {
		t.Fatal(err)
	}
	want := "# ours\r\n\r\n" +
		"[11111111-2222-3333-4444-555555555555]\r\n" +
		"name = Acme\r\n" +
		"apikey = " + fakeHash(2) + " ; laptop\r\n" +
		"\r\n" +
		"; the second\r\n" +
		"[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\r\n" +
		"apikey = " + fakeHash(3) + "\r\n" +
		"\r\n" +
		"[99999999-2222-3333-4444-555555555555]\r\n" +
		"name = Zürich\r\n"
	if d.String() != want {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
}

func TestEditsRefuse(t *testing.T) {
	text := "[11111111-2222-3333-4444-555555555555]\nname = Acme\napikey = " + fakeHash(1) + "\n"
	for _, c := range []struct {
		name string
		edit func(*Document) error
		want string
	}{
		{"taken ID", func(d *Document) error { return d.AddOrganization(orgA, "Other") }, "already has an organization"},
		{"taken name", func(d *Document) error { return d.AddOrganization(orgB, "Acme") }, "already has an organization"},
		{"zero ID", func(d *Document) error { return d.AddOrganization(uuid.Nil, "Zero") }, "the UUID of zeros"},
		{"name like an ID", func(d *Document) error { return d.AddOrganization(orgB, orgA.String()) }, "looks like an ID"},
		{"name with a line break", func(d *Document) error { return d.AddOrganization(orgB, "a\n[b]") }, "printable"},
		{"name with a comment", func(d *Document) error { return d.AddOrganization(orgB, "a ; b") }, "start a comment"},
		{"name too long", func(d *Document) error { return d.AddOrganization(orgB, strings.Repeat("a", 101)) },
			"100 characters"},
		{"label with a line break", func(d *Document) error { _, err := d.AddKey(orgA, fakeHash(2), "a\nb"); return err },
			"printable"},
		{"not a hash", func(d *Document) error { _, err := d.AddKey(orgA, "hunter2", ""); return err }, "not a bcrypt hash"},
		{"hash again", func(d *Document) error { _, err := d.AddKey(orgA, fakeHash(1), ""); return err }, "the same hash"},
		{"key for nobody", func(d *Document) error { _, err := d.AddKey(orgB, fakeHash(2), ""); return err },
			"has no organization"},
		{"revoke for nobody", func(d *Document) error { _, err := d.RevokeKey(orgB, "x"); return err },
			"has no organization"},
		{"revoke nothing", func(d *Document) error { _, err := d.RevokeKey(orgA, "x"); return err }, "has no key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mustParse(t, text)
			if err := c.edit(d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want …%s…", err, c.want)
			}
			if d.String() != text {
				t.Errorf("a failed edit left\n%s", d)
			}
		})
	}
}

const sections = "[" + idA + "]\n" +
	"name = Acme\n" +
	"apikey = %1 ; laptop\n" +
	"; more to come\n" +
	"\n" +
	"; the pipeline\n" +
	"[" + idA + ".ci]\n" +
	"apikey = %2 ; first\n" +
	"; only what it needs\n" +
	"role = writer\n" +
	"states = prod/*\n" +
	"expires = 2027-01-31 ; see the calendar\n" +
	"from = 10.0.0.0/8\n" +
	"\n" +
	"; the others\n" +
	"[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\n" +
	"name = Other"

// numbered puts hashes in the place of %1 to %9.
func numbered(text string) string {
	for n := range 9 {
		text = strings.ReplaceAll(text, "%"+string(rune('1'+n)), fakeHash(n+1))
	}
	return text
}

func date(text string) time.Time {
	moment, err := ParseExpiry(text)
	if err != nil {
		panic(err)
	}
	return moment
}

func TestNamedKeysAreAdded(t *testing.T) {
	d := mustParse(t, numbered(sections))
	from, err := ParseNetworks("192.0.2.7, 2001:db8::/32")
	must(t, err)
	added, err := d.AddNamedKey(orgA, keyring.StoredKey{
		Name: "deploy", Hash: fakeHash(3), Label: "2026-11-21",
		Grant: auth.Grant{Role: auth.Reader, States: patterns(t, "a/*,b"), Expires: date("2027-03-01")}, From: from,
	})
	if err != nil || added.ID != keyID(fakeHash(3)) || added.Role != auth.Reader {
		t.Fatalf("added %+v, %v", added, err)
	}
	for range 2 {
		_, err := d.AddNamedKey(orgB,
			keyring.StoredKey{Hash: fakeHash(4 + len(d.orgs[1].Keys)), Grant: auth.Grant{Role: auth.Uploader}})
		must(t, err)
	}
	want := numbered(strings.Replace(sections, "10.0.0.0/8\n", "10.0.0.0/8\n"+
		"\n["+idA+".deploy]\napikey = %3 ; 2026-11-21\nrole = reader\nstates = a/*, b\nexpires = 2027-03-01\nfrom = "+
		"192.0.2.7, 2001:db8::/32\n", 1) +
		"\n\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.uploader]\napikey = %4\nrole = uploader\n" +
		"\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.uploader-2]\napikey = %5\nrole = uploader\n")
	if d.String() != want {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
}

func TestRevokingASectionTakesItsCommentsAlong(t *testing.T) {
	d := mustParse(t, numbered(sections))
	if left, err := d.RevokeKey(orgA, "CI"); err != nil || left != 1 {
		t.Fatalf("%d left, error %v", left, err)
	}
	want := numbered("[" + idA + "]\nname = Acme\napikey = %1 ; laptop\n; more to come\n" +
		"\n; the others\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\nname = Other")
	if d.String() != want {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
}

// What is added and revoked again leaves the file as it was.
func TestAddAndRevokeCancelOut(t *testing.T) {
	for _, text := range []string{sections, sections + "\n", strings.ReplaceAll(sections, "\n", "\r\n"), sections +
		"\n; the end\n"} {
		text = numbered(text)
		for _, org := range []uuid.UUID{orgA, orgB} {
			d := mustParse(t, text)
			_, err := d.AddNamedKey(org, keyring.StoredKey{Name: "x", Hash: fakeHash(3), Grant: auth.Grant{Role: auth.Reader}})
			must(t, err)
			_, err = d.RevokeKey(org, "x")
			must(t, err)
			if got := d.String(); strings.TrimRight(got, "\r\n") != strings.TrimRight(text, "\r\n") {
				t.Errorf("got\n%q\nwant\n%q", got, text)
			}
		}
	}
}

func TestRotatedKeys(t *testing.T) {
	ci := "[" + idA + ".ci-until-20261128]\napikey = %2 ; first\nrole = writer\nstates = prod/*\nexpires = " +
		"2026-11-28\nfrom = 10.0.0.0/8\n"
	late := strings.NewReplacer("20261128", "20270131", "2026-11-28", "2027-01-31").Replace(ci)
	for _, c := range []struct {
		name, key string
		rotation  Rotation
		change    []string // pairs of old and new text
		section   string
	}{
		{"named", "ci", Rotation{Until: date("2026-11-28"), Label: "new"}, []string{"%2 ; first", "%3 ; new"}, ci},
		{"named, by ID", keyID(fakeHash(2)), Rotation{Until: date("2026-11-28")}, []string{"%2 ; first", "%3"}, ci},
		{"no longer than before", "ci", Rotation{Until: date("2028-01-01")}, []string{"%2 ; first", "%3"}, late},
		{"renewed", "ci", Rotation{Until: date("2026-11-28"), Expires: date("2028-02-29")},
			[]string{"%2 ; first", "%3", "2027-01-31 ; see the calendar", "2028-02-29"}, ci},
		{"until a moment", "ci", Rotation{Until: date("2026-11-28T12:00:00Z")}, []string{"%2 ; first", "%3"},
			strings.Replace(ci, "2026-11-28", "2026-11-28T12:00:00Z", 1)},
		{"the organization's own", keyID(fakeHash(1)), Rotation{Until: date("2026-11-28")}, []string{"%1 ; laptop", "%3"},
			"[" + idA + ".owner-until-20261128]\napikey = %1 ; laptop\nrole = owner\nexpires = 2026-11-28\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mustParse(t, numbered(sections))
			c.rotation.Hash = fakeHash(3)
			before, err := d.Key(orgA, c.key)
			must(t, err)
			old, made, err := d.RotateKey(orgA, c.key, c.rotation)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer(c.change...).Replace(sections)
			want = numbered(strings.Replace(want, "10.0.0.0/8\n", "10.0.0.0/8\n\n"+c.section, 1))
			if d.String() != want {
				t.Errorf("got\n%s\nwant\n%s", d, want)
			}
			if old.ID != before.ID || made.Name != before.Name || made.Role != before.Role || old.Role != before.Role ||
				made.ID != keyID(fakeHash(3)) {
				t.Errorf("old %+v, new %+v", old, made)
			}
		})
	}
}

// A key is rotated again on the same day, and keeps a label that no command would write.
func TestRotatedTwice(t *testing.T) {
	long := strings.Repeat("x", 200)
	name := strings.Repeat("n", 64)
	d := mustParse(t, "["+idA+"]\n["+idA+"."+name+"]\nrole = owner\n"+fakeHash(1)+" ; "+long+"\n")
	for n := range 3 {
		if _, _, err := d.RotateKey(orgA, name, Rotation{Hash: fakeHash(n + 2), Until: date("2026-11-28")}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, k := range d.orgs[0].Keys {
		names = append(names, strings.TrimLeft(k.Name, "n"))
	}
	if got := strings.Join(names, " "); got != " -until-20261128 -until-20261128-2 -until-20261128-3" {
		t.Errorf("names %q", got)
	}
	if d.orgs[0].Keys[1].Label != long {
		t.Errorf("label %q", d.orgs[0].Keys[1].Label)
	}
}

func TestKeyEditsRefuse(t *testing.T) {
	writer := auth.Grant{Role: auth.Writer}
	until := date("2026-11-28")
	for _, c := range []struct {
		name string
		edit func(*Document) error
		want string
	}{
		{"taken name", func(d *Document) error {
			_, err := d.AddNamedKey(orgA, keyring.StoredKey{Name: "CI", Hash: fakeHash(3), Grant: writer})
			return err
		}, "already has a key named"},
		{"odd name", func(d *Document) error {
			_, err := d.AddNamedKey(orgA, keyring.StoredKey{Name: "a]b", Hash: fakeHash(3), Grant: writer})
			return err
		}, "not a name for a key"},
		{"odd label", func(d *Document) error {
			_, err := d.AddNamedKey(orgA, keyring.StoredKey{Name: "a", Label: "a\nb", Hash: fakeHash(3), Grant: writer})
			return err
		}, "not a label"},
		{"no role", func(d *Document) error {
			_, err := d.AddNamedKey(orgA, keyring.StoredKey{Name: "a", Hash: fakeHash(3)})
			return err
		}, "not a role"},
		{"states of an uploader", func(d *Document) error {
			_, err := d.AddNamedKey(orgA,
				keyring.StoredKey{Name: "a", Hash: fakeHash(3), Grant: auth.Grant{Role: auth.Uploader, States: patterns(t, "a")}})
			return err
		}, "no right on any state"},
		{"rotate nothing", func(d *Document) error {
			_, _, err := d.RotateKey(orgA, "x", Rotation{Hash: fakeHash(3), Until: until})
			return err
		}, "has no key"},
		{"rotate to the same", func(d *Document) error {
			_, _, err := d.RotateKey(orgA, "ci", Rotation{Hash: fakeHash(2), Until: until})
			return err
		}, "the same hash"},
		{"rotate to a bad label", func(d *Document) error {
			_, _, err := d.RotateKey(orgA, "ci", Rotation{Hash: fakeHash(3), Label: "\n", Until: until})
			return err
		}, "not a label"},
		{"an own key that expires", func(d *Document) error {
			_, _, err := d.RotateKey(orgA, keyID(fakeHash(1)), Rotation{Hash: fakeHash(3), Until: until, Expires: until})
			return err
		}, "can't expire"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mustParse(t, numbered(sections))
			if err := c.edit(d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want …%s…", err, c.want)
			}
			if d.String() != numbered(sections) {
				t.Errorf("a failed edit left\n%s", d)
			}
		})
	}
}

func TestExpiryIsWrittenAsRead(t *testing.T) {
	for _, text := range []string{"2027-01-31", "2028-02-29", "2027-01-31T12:30:01Z"} {
		if got := FormatExpiry(date(text)); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	if got := FormatExpiry(time.Time{}); got != "" {
		t.Errorf("never is %q", got)
	}
}
