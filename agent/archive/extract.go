// Package archive unpacks archives in tar format that may be hostile into a folder, and packs
// files of a folder into one.
package archive

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Limits bound what an archive may hold. Zero is no bound.
type Limits struct {
	Files int
	Bytes int64
}

// InvalidError says what is wrong with an archive.
type InvalidError struct{ Why string }

func (e *InvalidError) Error() string { return "the archive can't be unpacked: " + e.Why }

func invalidf(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// Extract unpacks regular files and folders into a folder, which nothing leaves: a path that is
// absolute or has "..", a link or a device is an *InvalidError. A file that is there already is
// replaced. Of a file's mode only whether its owner may execute it is kept.
func Extract(from io.Reader, folder string, limits Limits) error {
	return ExtractAs(from, folder, nil, limits)
}

// ExtractAs is Extract of files that are to be called as called says; all as they are where it is nil.
func ExtractAs(from io.Reader, folder string, called func(name string) string, limits Limits) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	x := extraction{limits: limits, folder: func(name string) error { return root.MkdirAll(name, 0o700) }}
	x.file = func(name string, header *tar.Header, content io.Reader) error {
		if called != nil {
			name = called(name)
		}
		return writeInto(root, name, header, content)
	}
	return x.all(from)
}

// Sums returns the SHA-256 of each file of an archive, by its name there. What Extract refuses is an *InvalidError.
func Sums(from io.Reader, limits Limits) (map[string][sha256.Size]byte, error) {
	sums := map[string][sha256.Size]byte{}
	x := extraction{limits: limits, folder: func(string) error { return nil }}
	x.file = func(name string, _ *tar.Header, content io.Reader) error {
		sum := sha256.New()
		_, err := io.Copy(sum, content)
		sums[name] = [sha256.Size]byte(sum.Sum(nil))
		return err
	}
	return sums, x.all(from)
}

// extraction reads an archive that may be hostile.
type extraction struct {
	file   func(name string, header *tar.Header, content io.Reader) error
	folder func(name string) error
	limits Limits
	files  int
	bytes  int64
}

func (x *extraction) all(from io.Reader) error {
	in := tar.NewReader(from)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return x.damaged(err)
		}
		if err := x.entry(header, in); err != nil {
			return err
		}
	}
}

func (x *extraction) damaged(err error) error {
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, tar.ErrInsecurePath) {
		return invalidf("it is damaged: %v", err)
	}
	return err // of whoever brings the archive
}

func (x *extraction) entry(header *tar.Header, content io.Reader) error {
	name := strings.TrimSuffix(strings.TrimPrefix(header.Name, "./"), "/")
	if name == "" || name == "." {
		return nil
	}
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || len(name) > 4096 {
		return invalidf("%.200q is not a path within it", header.Name)
	}
	if x.files++; x.limits.Files > 0 && x.files > x.limits.Files {
		return invalidf("it has more than %d files", x.limits.Files)
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return x.folder(name)
	case tar.TypeReg:
		if x.bytes += header.Size; x.limits.Bytes > 0 && x.bytes > x.limits.Bytes {
			return invalidf("it has more than %d bytes", x.limits.Bytes)
		}
		return x.damaged(x.file(name, header, content))
	}
	return invalidf("%.200q is neither a file nor a folder", header.Name)
}

func writeInto(root *os.Root, name string, header *tar.Header, content io.Reader) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	mode := fs.FileMode(0o600)
	if header.Mode&0o100 != 0 {
		mode = 0o700
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, content)
	return err
}
