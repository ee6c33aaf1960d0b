// Package archive unpacks archives in tar format that may be hostile into a folder, and packs
// files of a folder into one.
package archive

import (
	"archive/tar"
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
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	x := extraction{root: root, limits: limits}
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

type extraction struct {
	root   *os.Root
	limits Limits
	files  int
	bytes  int64
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
		return x.root.MkdirAll(name, 0o700)
	case tar.TypeReg:
		return x.file(name, header, content)
	}
	return invalidf("%.200q is neither a file nor a folder", header.Name)
}

func (x *extraction) file(name string, header *tar.Header, content io.Reader) (err error) {
	if x.bytes += header.Size; x.limits.Bytes > 0 && x.bytes > x.limits.Bytes {
		return invalidf("it has more than %d bytes", x.limits.Bytes)
	}
	if err := x.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if err := x.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	mode := fs.FileMode(0o600)
	if header.Mode&0o100 != 0 {
		mode = 0o700
	}
	f, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, content); err != nil {
		return x.damaged(err)
	}
	return nil
}
