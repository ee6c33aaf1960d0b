package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/agent/archive"
)

func pack(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var to bytes.Buffer
	out := tar.NewWriter(&to)
	for _, h := range headers {
		text := h.PAXRecords["COMMENT.text"]
		h.PAXRecords, h.Size = nil, int64(len(text))
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return &to
}

func file(name, text string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, PAXRecords: map[string]string{"COMMENT.text": text}}
}

func invalid(err error) bool {
	_, ok := errors.AsType[*archive.InvalidError](err)
	return ok
}

func TestExtractLeavesNoFolder(t *testing.T) {
	for name, h := range map[string]tar.Header{
		"absolute":      file("/etc/passwd", "x"),
		"above":         file("../x", "x"),
		"above, hidden": file("a/../../x", "x"),
		"backslash":     file(`a\..\x`, "x"),
		"empty segment": file("a//b", "x"),
		"symbolic link": {Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"},
		"hard link":     {Typeflag: tar.TypeLink, Name: "l", Linkname: "main.tf"},
		"device":        {Typeflag: tar.TypeChar, Name: "d"},
		"pipe":          {Typeflag: tar.TypeFifo, Name: "p"},
		"very long":     file(strings.Repeat("a/", 3000)+"a", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			folder := filepath.Join(home, "in")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := archive.Extract(pack(t, file("main.tf", "x"), h), folder, archive.Limits{}); !invalid(err) {
				t.Errorf("it is taken: %v", err)
			}
			if entries, _ := os.ReadDir(home); len(entries) != 1 {
				t.Errorf("there is something beside the folder: %v", entries)
			}
		})
	}
}

// A link that is there already, as a hostile plan might have left one, leads nowhere.
func TestExtractFollowsNoLink(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(folder, "made")); err != nil {
		t.Fatal(err)
	}
	if err := archive.Extract(pack(t, file("made/x", "x")), folder, archive.Limits{}); err == nil {
		t.Error("it is taken")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Error("there is something in the folder outside")
	}
}

func TestExtractIsBounded(t *testing.T) {
	many := []tar.Header{file("a", "12345"), file("b", "12345"), file("c", "12345")}
	for _, test := range []struct {
		limits archive.Limits
		fine   bool
	}{
		{archive.Limits{}, true}, {archive.Limits{Files: 3, Bytes: 15}, true}, {archive.Limits{Files: 2}, false},
		{archive.Limits{Bytes: 14}, false},
	} {
		err := archive.Extract(pack(t, many...), t.TempDir(), test.limits)
		if test.fine != (err == nil) || !test.fine && !invalid(err) {
			t.Errorf("%+v: %v", test.limits, err)
		}
	}
	if err := archive.Extract(strings.NewReader(strings.Repeat("no archive", 200)), t.TempDir(),
		archive.Limits{}); !invalid(err) {
		t.Errorf("what is no archive: %v", err)
	}
	cut := pack(t, file("a", strings.Repeat("x", 5000))).Bytes()[:2000]
	if err := archive.Extract(bytes.NewReader(cut), t.TempDir(), archive.Limits{}); err == nil || invalid(err) {
		t.Errorf("what was cut on its way: %v", err)
	}
}

// What changed since a listing comes to another folder as it is, and only that.
func TestMadeFilesTravel(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write := func(folder, name, text string, mode os.FileMode) {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode),
			os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	none := func(path string, isFolder bool) bool { return isFolder && path == "skipped" }
	list := func() archive.Listing {
		found, err := archive.List(from, none)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	write(from, "same", "same", 0o600)
	write(from, "changed", "old", 0o600)
	write(from, "gone", "x", 0o600)
	before := list()
	write(from, "changed", "newer", 0o600)
	write(from, "deep/made", "made", 0o700)
	write(from, "skipped/x", "x", 0o600)
	if err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(from, "link")),
		os.Remove(filepath.Join(from, "gone"))); err != nil {
		t.Fatal(err)
	}
	made := list().Since(before)
	var packed, again bytes.Buffer
	if err := errors.Join(archive.Pack(&packed, from, made, nil, archive.Limits{Files: 2, Bytes: 9}),
		archive.Pack(&again, from, made, nil, archive.Limits{})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed.Bytes(), again.Bytes()) {
		t.Error("the same files make another archive")
	}
	if err := archive.Pack(&again, from, made, nil, archive.Limits{Bytes: 8}); !invalid(err) {
		t.Errorf("too many bytes: %v", err)
	}
	if err := archive.Pack(&again, from, made, nil, archive.Limits{Files: 1}); !invalid(err) {
		t.Errorf("too many files: %v", err)
	}
	write(to, "changed", "old", 0o600)
	if err := archive.Extract(&packed, to, archive.Limits{}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{"changed", "deep/made"} {
		text, err := os.ReadFile(filepath.Join(to, name))
		info, _ := os.Stat(filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(text) + " " + info.Mode().String()
	}
	if diff := cmp.Diff(map[string]string{"changed": "newer -rw-------", "deep/made": "made -rwx------"},
		got); diff != "" {
		t.Error(diff)
	}
	if entries, _ := os.ReadDir(to); len(entries) != 2 {
		t.Errorf("there is more: %v", entries)
	}
}
