package authfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestShredOrganization(t *testing.T) {
	acme, globex := uuid.MustParse("11111111-2222-3333-4444-555555555555"),
		uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	d := mustParse(t, twoOrganizations)
	at := time.Date(2026, 11, 22, 17, 30, 0, 999, time.FixedZone("", 3600))
	if err := d.ShredOrganization(uuid.New(), at); err == nil || d.String() != twoOrganizations {
		t.Errorf("a stranger is shredded: %v", err)
	}
	must(t, d.ShredOrganization(acme, at))
	want := "[shredded.11111111-2222-3333-4444-555555555555]\nname = Acme\nat = 2026-11-22T16:30:00Z\n"
	if text := d.String(); !strings.HasPrefix(text, want) || strings.Contains(text, "pipelines") ||
		!strings.HasSuffix(text, "# another one\n[66666666-7777-8888-9999-aaaaaaaaaaaa]\nname = Globex\nrate_limit = 7\n") {
		t.Errorf("the file is\n%s", text)
	}
	if _, ok := d.Find(acme); ok || len(d.Keyring().Organizations) != 1 {
		t.Error("somebody gets in for it")
	}
	s, ok := d.Shredding(acme)
	if !ok || s.Name != "Acme" || !s.At.Equal(at.Truncate(time.Second)) || len(d.Shreddings()) != 1 {
		t.Errorf("the document says %+v", d.Shreddings())
	}
	if err := d.AddOrganization(acme, "Acme"); err == nil ||
		!strings.Contains(err.Error(), "everything of "+acme.String()+" is destroyed") {
		t.Errorf("it is added: %v", err)
	}
	// The last one of a file that doesn't end its last line.
	last := mustParse(t, strings.TrimSuffix(twoOrganizations, "\n"))
	must(t, last.ShredOrganization(globex, at))
	if _, ok := last.Shredding(globex); !ok || len(last.Organizations()) != 1 {
		t.Errorf("the file is\n%s", last)
	}
	must(t, d.ForgetShredding(acme))
	must(t, d.AddOrganization(acme, "Acme"))
	if len(d.Shreddings()) != 0 || strings.Contains(d.String(), "shredded") {
		t.Errorf("the file is\n%s", d)
	}
}

func TestShreddedSections(t *testing.T) {
	const id = "11111111-2222-3333-4444-555555555555"
	for name, c := range map[string]struct{ text, fault string }{
		"no time":      {"[shredded." + id + "]\nname = Acme\n", "1: a section of what is shredded needs at"},
		"a wrong time": {"[shredded." + id + "]\nat = yesterday\n", "2: not a time such as"},
		"a wrong name": {"[shredded." + id + "]\nname = \"Acme\"\nat = 2026-11-22T16:30:00Z\n", "2: not a name"},
		"a key": {"[shredded." + id + "]\nat = 2026-11-22T16:30:00Z\nrate_limit = 7\n",
			"3: an unknown setting; a section of what is shredded has name and at"},
		"no ID": {"[shredded.acme]\nat = 2026-11-22T16:30:00Z\n", "1: a section's name is an organization's UUID"},
		"twice": {"[shredded." + id + "]\nat = 2026-11-22T16:30:00Z\n[shredded." + id +
			"]\nat = 2026-11-22T16:30:00Z\n", "3: the same section as in line 1"},
		"there as well": {"[" + id + "]\nname = Acme\n[shredded." + id + "]\nat = 2026-11-22T16:30:00Z\n",
			"3: the organization in line 1 is to be destroyed, and there as well"},
		"and before": {"[shredded." + id + "]\nat = 2026-11-22T16:30:00Z\n[" + id + "]\nname = Acme\n",
			"1: the organization in line 3 is to be destroyed, and there as well"},
	} {
		if _, err := Parse("auth.cfg", c.text); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v; want %s", name, err, c.fault)
		}
	}
}
