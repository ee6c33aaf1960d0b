package authfile

import (
	"strings"
	"testing"

	"github.com/google/uuid"
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
		{"name too long", func(d *Document) error { return d.AddOrganization(orgB, strings.Repeat("a", 101)) }, "100 characters"},
		{"label with a line break", func(d *Document) error { _, err := d.AddKey(orgA, fakeHash(2), "a\nb"); return err }, "printable"},
		{"not a hash", func(d *Document) error { _, err := d.AddKey(orgA, "hunter2", ""); return err }, "not a bcrypt hash"},
		{"hash again", func(d *Document) error { _, err := d.AddKey(orgA, fakeHash(1), ""); return err }, "the same hash"},
		{"key for nobody", func(d *Document) error { _, err := d.AddKey(orgB, fakeHash(2), ""); return err }, "has no organization"},
		{"revoke for nobody", func(d *Document) error { _, err := d.RevokeKey(orgB, "x"); return err }, "has no organization"},
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
