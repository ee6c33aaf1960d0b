package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/holdfast/holdfast/internal/disk"
)

// Digest returns the SHA-256 of all that is in a folder: names, modes and contents. Links have to
// lead to where allowed says: those are told by their targets. Anything else that is no file or
// folder, a file that has other names, and more than the limits allow, is an *InvalidError.
func Digest(folder string, limits Limits, allowed func(target string) bool) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	d := digester{root: root, limits: limits, allowed: allowed, sum: sha256.New()}
	if err := fs.WalkDir(root.FS(), ".", d.add); err != nil {
		return "", err
	}
	return hex.EncodeToString(d.sum.Sum(nil)), nil
}

type digester struct {
	root    *os.Root
	limits  Limits
	allowed func(string) bool
	sum     hash.Hash
	files   int
	bytes   int64
}

func (d *digester) add(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.files++; d.limits.Files > 0 && d.files > d.limits.Files {
		return invalidf("there are more than %d files", d.limits.Files)
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	var content string
	switch {
	case entry.IsDir():
	case disk.HasOtherNames(info):
		return invalidf("%q has other names, by which it can be changed from elsewhere", name)
	case info.Mode().IsRegular():
		content, err = d.content(name)
	case info.Mode().Type() == fs.ModeSymlink:
		if content, err = d.root.Readlink(name); err == nil && !d.allowed(content) {
			return invalidf("the link %q leads to %q", name, content)
		}
	default:
		return invalidf("%q is neither a file nor a folder", name)
	}
	fmt.Fprintf(d.sum, "%q %v %q\n", name, info.Mode(), content)
	return err
}

// content is the SHA-256 of a file.
func (d *digester) content(name string) (string, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum, from := sha256.New(), io.Reader(f)
	if d.limits.Bytes > 0 {
		from = io.LimitReader(f, d.limits.Bytes-d.bytes+1)
	}
	n, err := io.Copy(sum, from)
	if d.bytes += n; err == nil && d.limits.Bytes > 0 && d.bytes > d.limits.Bytes {
		err = invalidf("they have more than %d bytes", d.limits.Bytes)
	}
	return string(sum.Sum(nil)), err
}
