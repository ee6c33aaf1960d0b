package planfile

import (
	"archive/zip"
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/plantest"
)

var update = flag.Bool("update", false, "make the plan files of testdata anew, with the real tools")

// TestUpdate makes the plan files that the other tests damage.
func TestUpdate(t *testing.T) {
	if !*update {
		t.Skip("without -update the plan files stay")
	}
	for _, tool := range plantest.Tools(t) {
		file, _ := tool.New(t, configuration()).Plan()
		if err := os.WriteFile(filepath.Join("testdata", tool.Name+".plan"), file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func fixture(t testing.TB, tool string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", tool+".plan"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// member is one of an archive that a test makes.
type packed struct {
	header  zip.FileHeader
	content []byte
}

func unpack(t testing.TB, file []byte) []packed {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var members []packed
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, packed{zip.FileHeader{Name: f.Name, Method: zip.Deflate}, all})
	}
	return members
}

func pack(t testing.TB, members []packed) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		part, err := w.CreateHeader(&m.header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// with replaces the content of a member, or adds one.
func with(members []packed, name string, content []byte) []packed {
	for i := range members {
		if members[i].header.Name == name {
			members[i].content = content
			return members
		}
	}
	return add(members, name, content)
}

func add(members []packed, name string, content []byte) []packed {
	return append(members, packed{zip.FileHeader{Name: name, Method: zip.Deflate}, content})
}

func without(members []packed, name string) (rest []packed) {
	for _, m := range members {
		if m.header.Name != name {
			rest = append(rest, m)
		}
	}
	return rest
}

func content(members []packed, name string) []byte {
	for _, m := range members {
		if m.header.Name == name {
			return m.content
		}
	}
	return nil
}
