package local

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/auth/authfile"
)

func TestOrganizationsCanBeRead(t *testing.T) {
	made, err := MakeOrganizations(filepath.Join(t.TempDir(), "auth.cfg"), 2, 30)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := authfile.Load(made.File)
	if err != nil {
		t.Fatal(err)
	}
	if all := doc.Organizations(); len(all) != 32 || len(made.All) != 2 {
		t.Fatalf("%d organizations, %d with keys", len(all), len(made.All))
	}
	for _, id := range made.All {
		org, ok := doc.Find(id.Org)
		if !ok || len(org.Keys) != 1 || bcrypt.CompareHashAndPassword([]byte(org.Keys[0].Hash), []byte(id.Key)) != nil {
			t.Errorf("the key of %s does not fit", id.Org)
		}
	}
	if info, err := os.Stat(made.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestThisMachine(t *testing.T) {
	m := ThisMachine()
	if m.Cores < 1 || m.Go == "" || runtime.GOOS == "linux" && (m.Memory < 64<<20 || m.Load == "") {
		t.Errorf("%+v", m)
	}
}
