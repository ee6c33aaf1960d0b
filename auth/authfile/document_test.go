package authfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/suite"
)

func TestParseReads(t *testing.T) {
	text := "\ufeff; our organizations\r\n" +
		"[11111111-2222-3333-4444-555555555555] ; the first\r\n" +
		"name   = Acme & Sons  # since 2019\r\n" +
		"apikey = " + fakeHash(1) + "\t; 2026-11-21 laptop\r\n" +
		"\r\n" +
		"  " + fakeHash(2) + "\r\n" +
		"[AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE]\n" +
		"apikey: " + fakeHash(3)
	d := mustParse(t, text)
	want := []Organization{
		{Organization: keyring.Organization{ID: orgA, Name: "Acme & Sons", Keys: []keyring.StoredKey{
			{ID: keyID(fakeHash(1)), Hash: fakeHash(1), Cost: 10, Label: "2026-11-21 laptop",
				Grant: auth.Grant{Role: auth.Owner}},
			{ID: keyID(fakeHash(2)), Hash: fakeHash(2), Cost: 10, Grant: auth.Grant{Role: auth.Owner}},
		}}},
		{Organization: keyring.Organization{ID: orgB,
			Keys: []keyring.StoredKey{{ID: keyID(fakeHash(3)), Hash: fakeHash(3), Cost: 10,
				Grant: auth.Grant{Role: auth.Owner}}}}},
	}
	if diff := cmp.Diff(want, d.Organizations(), cmpopts.IgnoreUnexported(Organization{})); diff != "" {
		t.Errorf("organizations (-want +got):\n%s", diff)
	}
	if d.String() != text {
		t.Errorf("rendered\n%q, want\n%q", d.String(), text)
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "[11111111-2222-3333-4444-555555555555]\n"
	for _, c := range []struct{ name, text, want string }{
		{"not a UUID", "[acme]\n", "1: a section's name is an organization's UUID"},
		{"URN", "[urn:uuid:11111111-2222-3333-4444-555555555555]\n", "1: a section's name is"},
		{"braces", "[{11111111-2222-3333-4444-555555555555}]\n", "1: a section's name is"},
		{"no dashes", "[11111111222233334444555555555555]\n", "1: a section's name is"},
		{"spaces", "[ 11111111-2222-3333-4444-555555555555 ]\n", "1: a section's name is"},
		{"nil UUID", "[00000000-0000-0000-0000-000000000000]\n", "1: the UUID of zeros"},
		{"same section", "[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\n[AAAAAAAA-bbbb-cccc-dddd-eeeeeeeeeeee]\n",
			"2: the same organization as in line 1"},
		{"open section", "[11111111-2222-3333-4444-555555555555\n", "1: the ] that closes"},
		{"junk after section", head[:len(head)-1] + " x\n", "1: only a comment may stand"},
		{"bracket in comment", head[:len(head)-1] + " ; [x]\n", "1: a comment after a section's name can't contain ]"},
		{"setting without section", "name = Acme\n", "1: a setting before the first"},
		{"second name", head + "name = A\nname = B\n", "3: a second name; the first is in line 2"},
		{"empty name", head + "name =\n", "2: not a name: it is empty"},
		{"quoted name", head + "name = \"Acme\"\n", "2: not a name: a name can't start with a quotation mark"},
		{"unknown setting", head + "role = admin\n", "2: an unknown setting"},
		{"capital setting", head + "Name = Acme\n", "2: an unknown setting"},
		{"comment without space", head + "name = Acme;x\n", "2: a comment after a value needs a space"},
		{"continuation", head + "name = Acme ; x\\\n", "2: a line can't end in"},
		{"plaintext key", head + "apikey = hunter2secret\n", "2: not a bcrypt hash"},
		{"bare plaintext key", head + "hunter2secret\n", "2: not a bcrypt hash"},
		{"plaintext key with =", head + "hunter2secret==\n", "2: an unknown setting"},
		{"empty key", head + "apikey =\n", "2: not a bcrypt hash"},
		{"short hash", head + fakeHash(1)[:59] + "\n", "2: a damaged bcrypt hash"},
		{"long hash", head + fakeHash(1) + "x\n", "2: a damaged bcrypt hash"},
		{"other bcrypt", head + "apikey = $2x" + fakeHash(1)[3:] + "\n", "2: a damaged bcrypt hash"},
		{"low cost", head + "apikey = $2a$09" + fakeHash(1)[6:] + "\n", "2: the bcrypt cost is below 10"},
		{"high cost", head + "apikey = $2a$17" + fakeHash(1)[6:] + "\n", "2: the bcrypt cost is above 16"},
		{"absurd cost", head + "apikey = $2a$99" + fakeHash(1)[6:] + "\n", "2: a damaged bcrypt hash"},
		{"same hash", head + fakeHash(1) + "\napikey = " + fakeHash(1) + "\n", "3: the same hash as in line 2"},
		{"setting in bare comment", head + fakeHash(1) + " ; a = b\n", "2: a comment after a bare hash"},
		{"NUL", head + "name = A\x00B\n", "2: a NUL byte"},
		{"control", head + "; \x1b[31m\n", "2: a control character"},
		{"lone CR", head + "name = A\rB\n", "2: a control character"},
		{"UTF-8", head + "name = A\xff\n", "2: not valid UTF-8"},
		{"UTF-16", "\xff\xfe[\x00", "1: not valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("auth.cfg", c.text)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), "auth.cfg:"+c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one fault, auth.cfg:%s…", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the key: %q", err)
			}
		})
	}
}

func TestParseReportsAllFaults(t *testing.T) {
	_, err := Parse("auth.cfg", "[acme]\nname = A\nsecret\n[11111111-2222-3333-4444-555555555555]\nx = y\n")
	want := []int{1, 3, 5}
	var got []int
	for _, f := range err.(*FileError).Faults {
		got = append(got, f.Line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines with faults (-want +got):\n%s\n%v", diff, err)
	}
}

func TestParseBoundsItsErrors(t *testing.T) {
	_, err := Parse("auth.cfg", strings.Repeat("x\n", 5000))
	if !strings.HasSuffix(err.Error(), "auth.cfg: and 4900 more") {
		t.Errorf("the error ends in %q", err.Error()[len(err.Error())-80:])
	}
}

func TestParseManyOrganizations(t *testing.T) {
	suite.Deep(t)
	const n = 100_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[%s]\nname = Organization %d\napikey = %s\n\n",
			uuid.NewSHA1(orgA, []byte{byte(i), byte(i >> 8), byte(i >> 16)}), i, fakeHash(i))
	}
	d := mustParse(t, b.String())
	if got := len(d.Organizations()); got != n {
		t.Errorf("%d organizations, want %d", got, n)
	}
}
