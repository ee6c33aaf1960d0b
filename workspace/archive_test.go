package workspace_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

// Whatever is wrong with an archive is refused with a code of its own, and nothing can be seen of it.
func TestHostileArchives(t *testing.T) {
	limits := workspace.Limits{Files: 5, Depth: 4, FileBytes: 1000, SnapshotBytes: 3000}
	file := func(names ...string) (all []entry) {
		for _, name := range names {
			all = append(all, entry{name: name, content: "x = 1\n"})
		}
		return all
	}
	good := archive(t, file("main.tf")...)
	for name, c := range map[string]struct {
		raw  []byte
		code fault.Code
	}{
		"link": {archive(t, append(file("main.tf"), entry{name: "l", kind: tar.TypeSymlink})...),
			fault.ArchiveEntry},
		"hard link": {archive(t, append(file("main.tf"), entry{name: "l", kind: tar.TypeLink})...),
			fault.ArchiveEntry},
		"device":             {archive(t, entry{name: "d", kind: tar.TypeChar}), fault.ArchiveEntry},
		"pipe":               {archive(t, entry{name: "p", kind: tar.TypeFifo}), fault.ArchiveEntry},
		"absolute":           {archive(t, file("/etc/passwd")...), fault.FilePathInvalid},
		"leaves the folder":  {archive(t, file("a/../../x")...), fault.FilePathInvalid},
		"dots":               {archive(t, file("..")...), fault.FilePathInvalid},
		"backslash":          {archive(t, file(`a\..\x`)...), fault.FilePathInvalid},
		"folder that leaves": {archive(t, entry{name: "../x/", kind: tar.TypeDir}), fault.FilePathInvalid},
		"no UTF-8 in path":   {archive(t, file("a\xff.txt")...), fault.FilePathInvalid},
		"newline in path":    {archive(t, file("a\nb")...), fault.FilePathInvalid},
		"of init":            {archive(t, file(".terraform/modules/x")...), fault.FilePathInvalid},
		"the server's own":   {archive(t, file("d/holdfast_backend.tf")...), fault.FilePathInvalid},
		"no UTF-8":           {archive(t, entry{name: "main.tf", content: "a = \"\xff\"\n"}), fault.FileNotText},
		"cut character":      {archive(t, entry{name: "main.tf", content: "a\xe2\x82"}), fault.FileNotText},
		"twice":              {archive(t, file("main.tf", "./main.tf")...), fault.FileTwice},
		"only case":          {archive(t, file("main.tf", "Main.tf")...), fault.FileTwice},
		"only composition":   {archive(t, file("\u00e9.tf", "e\u0301.tf")...), fault.FileTwice},
		"composed folders":   {archive(t, file("\u00c9/x", "e\u0301/y")...), fault.FileTwice},
		"ends with a dot":    {archive(t, file("a.tf.")...), fault.FilePathInvalid},
		"ends with a space":  {archive(t, file("a.tf ")...), fault.FilePathInvalid},
		"a folder with one":  {archive(t, file("d./a.tf")...), fault.FilePathInvalid},
		"a stream of a file": {archive(t, file("a.tf::$DATA")...), fault.FilePathInvalid},
		"a device":           {archive(t, file("con.tf")...), fault.FilePathInvalid},
		"a folder as one":    {archive(t, file("NUL/a.tf")...), fault.FilePathInvalid},
		"a numbered device":  {archive(t, file("com1")...), fault.FilePathInvalid},
		"case of a folder":   {archive(t, file("A/x", "a/y")...), fault.FileTwice},
		"file and folder":    {archive(t, file("a", "a/b")...), fault.FileTwice},
		"folder and file":    {archive(t, file("a/b", "a")...), fault.FileTwice},
		"deep":               {archive(t, file("1/2/3/4/x")...), fault.FilesTooMany},
		"many":               {archive(t, file("1", "2", "3", "4", "5", "6")...), fault.FilesTooMany},
		"large file":         {archive(t, entry{name: "x", content: strings.Repeat("x", 1001)}), fault.FileTooLarge},
		"large":              {archive(t, large(4, 900)...), fault.FilesTooLarge},
		"no gzip":            {[]byte("no gzip at all"), fault.ArchiveInvalid},
		"nothing":            {nil, fault.ArchiveInvalid},
		"no tar":             {gzipped(t, []byte(strings.Repeat("no tar", 200))), fault.ArchiveInvalid},
		"cut off":            {good[:len(good)-9], fault.ArchiveInvalid},
		"damaged":            {append(bytes.Clone(good[:len(good)-8]), make([]byte, 8)...), fault.ArchiveInvalid},
	} {
		w := made(t, limits)
		_, err := w.push(c.raw)
		wantCode(t, name, err, c.code)
		if n := w.snapshots(); n != 0 {
			t.Errorf("%s: %d snapshots", name, n)
		}
	}
}

func large(n, size int) (all []entry) {
	for i := range n {
		all = append(all, entry{name: fmt.Sprint("f", i), content: strings.Repeat("x", size)})
	}
	return all
}

func gzipped(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	out := gzip.NewWriter(&b)
	_, err := out.Write(raw)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestArchiveBomb reads no more of an archive than its limits let it.
func TestArchiveBomb(t *testing.T) {
	w := made(t, workspace.Limits{FileBytes: 1 << 40, SnapshotBytes: 1 << 40})
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	out := tar.NewWriter(zipped)
	if err := out.WriteHeader(&tar.Header{Name: "zeros", Size: 64 << 20, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(out, zeros{}, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	read := &counter{from: bytes.NewReader(b.Bytes())}
	_, err := w.PushArchive(w.ctx, w.owner, "a", read, "", nil)
	wantCode(t, "bomb", err, fault.ArchiveBomb)
	if read.n > int64(b.Len())*2/3 {
		t.Errorf("%d bytes of %d were read", read.n, b.Len())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// What keeps the body from arriving is told as it is, and not as a fault of the archive.
func TestArchiveThatDoesNotArrive(t *testing.T) {
	w, broke := made(t, workspace.Limits{}), fault.New(fault.BodyTooSlow, "too slow")
	raw := archive(t, entry{name: "main.tf", content: "a = 1\n"})
	for _, n := range []int{0, 5, 20, len(raw) - 1} {
		_, err := w.PushArchive(w.ctx, w.owner, "a", io.MultiReader(bytes.NewReader(raw[:n]), iotest.ErrReader(broke)), "",
			nil)
		wantCode(t, fmt.Sprint(n, " bytes"), err, fault.BodyTooSlow)
	}
}

// An archive comes back as it was, in one form, whatever the order and the form it came in.
func TestArchiveComesBack(t *testing.T) {
	w := made(t, workspace.Limits{})
	one, err := w.push(archive(t, entry{name: "./", kind: tar.TypeDir}, entry{name: "./b.sh", content: "#!", mode: 0o755},
		entry{name: "./a/ü.tf", content: "x = 1\n"}))
	wantCode(t, "push", err, "")
	other, err := w.push(archive(t, entry{name: "a/ü.tf", content: "x = 1\n", mode: 0o640},
		entry{name: "b.sh", content: "#!", mode: 0o711}))
	wantCode(t, "push", err, "")
	if one != other || one.Files != 2 || one.Bytes != 8 {
		t.Errorf("%+v, then %+v", one, other)
	}
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		wantCode(t, "write", w.WriteArchive(w.ctx, w.owner.Org, "a", one.ID.String(), b), "")
	}
	var names []string
	for in := tar.NewReader(&first); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		content, failed := io.ReadAll(in)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		names = append(names, fmt.Sprintf("%s %o %s", h.Name, h.Mode, content))
	}
	if got := strings.Join(names, "|"); got != "a/ü.tf 644 x = 1\n|b.sh 755 #!" {
		t.Errorf("it came back with %q", got)
	}
	raw := second.Bytes()
	again, err := w.push(gzipped(t, raw))
	wantCode(t, "push of what came", err, "")
	if again.ID != one.ID {
		t.Error("what came back is another one")
	}
}
