package authfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

const idB = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"

func TestAliasesAreRead(t *testing.T) {
	w := following(t, "["+idA+"]\nalias = 42, 77:shop ; GitLab\nalias = Group/Project:live/eu\n["+idB+
		"]\nalias: 43:shop\n")
	for _, c := range []struct {
		org        uuid.UUID
		id, folder string
		ok         bool
	}{
		{orgA, "42", "", true}, {orgA, "77", "shop", true}, {orgA, "Group/Project", "live/eu", true},
		{orgA, "group/PROJECT", "live/eu", true},
		{orgB, "43", "shop", true}, {orgB, "42", "", false}, {orgA, "43", "", false}, {orgA, "", "", false},
		{orgA, "77:shop", "", false},
		{uuid.New(), "42", "", false},
	} {
		if folder, ok := w.Alias(c.org, c.id); string(folder) != c.folder || ok != c.ok {
			t.Errorf("%s of %s: %q, %v; want %q, %v", c.id, c.org, folder, ok, c.folder, c.ok)
		}
	}
}

func TestAliasesAreRefused(t *testing.T) {
	const head = "[" + idA + "]\n"
	for _, c := range []struct{ name, text, want string }{
		{"of another organization", head + "alias = 42\n[" + idB + "]\nalias = 1, 42", "4: the same alias as in line 2"},
		{"in other letters", head + "alias = Acme\n[" + idB + "]\nalias = aCME:x", "4: the same alias as in line 2"},
		{"twice, with two folders", head + "alias = 42:a\nalias = 42:b", "3: the same alias as in line 2"},
		{"empty", head + "alias =", "2: an empty entry"},
		{"two commas", head + "alias = 1,,2", "2: an empty entry"},
		{"without ID", head + "alias = :shop", "2: not an alias such as 42"},
		{"without folder", head + "alias = 42:", "2: not an alias such as 42"},
		{"way up", head + "alias = ../hunter2", "2: not an alias such as 42"},
		{"way up in the folder", head + "alias = 42:a/../hunter2", "2: not an alias such as 42"},
		{"escaped", head + "alias = a%2Fhunter2", "2: not an alias such as 42"},
		{"long folder", head + "alias = 42:" + strings.Repeat("a", 128), "2: not an alias such as 42"},
		{"of a key", head + "[" + idA + ".ci]\nrole = writer\n" + fakeHash(1) + "\nalias = 42",
			"5: an unknown setting; a key's section has"},
	} {
		_, err := Parse("auth.cfg", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), "auth.cfg:"+c.want) || strings.Contains(err.Error(), "\n") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; want one fault, auth.cfg:%s…", c.name, err, c.want)
		}
	}
}

func TestAliasesAreEdited(t *testing.T) {
	const before = "# us\n[" + idA + "]\nname = Acme\nalias = 42, 77:shop  ; GitLab's\n# keys\n[" + idA +
		".ci]\nrole = owner\n"
	text := before + fakeHash(1) + "\n"
	d := mustParse(t, text)
	folder := Alias{ID: "Group/Project", Folder: "live"}
	if err := d.AddAliases(orgA, folder, Alias{ID: "9"}); err != nil {
		t.Fatal(err)
	}
	wanted(t, d, strings.Replace(text, "GitLab's\n", "GitLab's\nalias = Group/Project:live, 9\n", 1))
	if err := d.AddAliases(orgA, Alias{ID: "GROUP/project"}); err == nil {
		t.Error("an alias is added twice")
	}
	if err := d.AddAliases(orgA, Alias{ID: "a b"}); err == nil {
		t.Error("an alias is added that is none")
	}
	if err := d.RemoveAliases(orgA, Alias{ID: "9"}, Alias{ID: "8"}); err == nil ||
		!strings.Contains(d.String(), "live, 9") {
		t.Errorf("an alias is removed that is none: %v, the file is\n%s", err, d)
	}
	if err := d.RemoveAliases(orgA, Alias{ID: "group/project"}, Alias{ID: "9"}, Alias{ID: "42"}); err != nil {
		t.Fatal(err)
	}
	wanted(t, d, strings.Replace(text, "42, 77:shop  ;", "77:shop ;", 1))
	if err := d.RemoveAliases(orgA, Alias{ID: "42"}); err == nil {
		t.Error("an alias is removed twice")
	}
	if err := d.RemoveAliases(orgA, Alias{ID: "77"}); err != nil {
		t.Fatal(err)
	}
	wanted(t, d, strings.Replace(text, "alias = 42, 77:shop  ; GitLab's\n", "", 1))
}

func wanted(t *testing.T, d *Document, text string) {
	t.Helper()
	if diff := cmp.Diff(text, d.String()); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
}
