package archive

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Listing is what a folder's regular files look like, by path within it.
type Listing map[string]Look

// Look is what a file looks like without reading it.
type Look struct {
	Size     int64       `json:"size"`
	Modified int64       `json:"modified"` // in nanoseconds
	Mode     fs.FileMode `json:"mode"`
}

// List looks at the regular files below a folder, but for those that skip names. Links and
// devices are passed over.
func List(folder string, skip func(path string, isFolder bool) bool) (Listing, error) {
	found := Listing{}
	err := filepath.WalkDir(folder, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, full)
		if err != nil || name == "." {
			return err
		}
		if skip(filepath.ToSlash(name), entry.IsDir()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			found[filepath.ToSlash(name)] = Look{info.Size(), info.ModTime().UnixNano(), info.Mode().Perm()}
		}
		return err
	})
	return found, err
}

// Since returns the files that are new or look different from an earlier listing.
func (l Listing) Since(before Listing) Listing {
	made := Listing{}
	for name, look := range l {
		if was, ok := before[name]; !ok || was != look {
			made[name] = look
		}
	}
	return made
}

// Pack writes these files of a folder as an archive: equal files, equal bytes. Called, unless it is nil, says
// what a file is called there. More than the limits allow is an *InvalidError.
func Pack(to io.Writer, folder string, files Listing, called func(name string) string, limits Limits) error {
	if limits.Files > 0 && len(files) > limits.Files {
		return invalidf("there are %d files, more than %d", len(files), limits.Files)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	out := tar.NewWriter(to)
	var total int64
	for _, name := range slices.Sorted(maps.Keys(files)) {
		look := files[name]
		if total += look.Size; limits.Bytes > 0 && total > limits.Bytes {
			return invalidf("they have more than %d bytes", limits.Bytes)
		}
		as := name
		if called != nil {
			as = called(name)
		}
		if err := packFile(out, root, name, as, look); err != nil {
			return err
		}
	}
	return out.Close()
}

func packFile(out *tar.Writer, root *os.Root, name, as string, look Look) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: as, Size: look.Size, Mode: int64(look.Mode),
		ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX,
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	// Exactly as many as were announced: a file that shrinks meanwhile is an error, one that
	// grows is cut.
	_, err = io.CopyN(out, f, look.Size)
	return err
}
