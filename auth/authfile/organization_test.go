package authfile

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

const twoOrganizations = `# keys of us all
[11111111-2222-3333-4444-555555555555]
name = Acme ; the first one

# for pipelines
[11111111-2222-3333-4444-555555555555.oidc.ci]
issuer = https://ci.example.com
audience = holdfast
claims.ref = main
role = writer

# another one
[66666666-7777-8888-9999-aaaaaaaaaaaa]
name = Globex
rate_limit = 7
`

func TestRenameOrganization(t *testing.T) {
	acme, nobody := uuid.MustParse("11111111-2222-3333-4444-555555555555"), uuid.New()
	d, err := Parse("auth.cfg", twoOrganizations)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		id   uuid.UUID
		name string
	}{{acme, "Globex"}, {acme, ""}, {acme, nobody.String()}, {nobody, "Initech"}} {
		if d.RenameOrganization(wrong.id, wrong.name) == nil || d.String() != twoOrganizations {
			t.Errorf("%v is accepted", wrong)
		}
	}
	for _, name := range []string{"Acme Corp", "Acme"} {
		if err := d.RenameOrganization(acme, name); err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(twoOrganizations, "Acme ; the first one", name, 1); d.String() != want {
			t.Errorf("the file is\n%s\nwant\n%s", d, want)
		}
	}
	bare, err := Parse("auth.cfg", "["+acme.String()+"]\nrate_limit = 7\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.RenameOrganization(acme, "Acme"); err != nil ||
		!strings.Contains(bare.String(), "]\nname = Acme\nrate_limit") {
		t.Errorf("%v, the file is\n%s", err, bare)
	}
}

func TestRemoveOrganization(t *testing.T) {
	acme, globex := uuid.MustParse("11111111-2222-3333-4444-555555555555"),
		uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	d, err := Parse("auth.cfg", twoOrganizations)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveOrganization(uuid.New()); err == nil || d.String() != twoOrganizations {
		t.Errorf("a stranger is removed: %v", err)
	}
	if err := d.RemoveOrganization(acme); err != nil {
		t.Fatal(err)
	}
	if text := d.String(); strings.Contains(text, "1111") || strings.Contains(text, "pipelines") ||
		!strings.HasSuffix(text, "# another one\n[66666666-7777-8888-9999-aaaaaaaaaaaa]\nname = Globex\nrate_limit = 7\n") {
		t.Errorf("the file is\n%s", text)
	}
	if err := d.RemoveOrganization(globex); err != nil || len(d.Organizations()) != 0 {
		t.Errorf("%v, the file is\n%s", err, d)
	}
}
