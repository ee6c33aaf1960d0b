package workspace

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/digest"
)

const (
	// bombBytes is how much an archive may unpack to whatever its own length, and bombRatio how
	// many times its length beyond that.
	bombBytes = 16 << 20
	bombRatio = 200
	// entryBytes is about what an entry takes beside its content.
	entryBytes = 2 << 10
)

// readArchive passes each file of a tar.gz to put, which has to read all of its content. It
// refuses what is neither a file nor a folder, and reads no more than the limits allow.
func readArchive(from io.Reader, limits Limits, put func(p string, executable bool, content io.Reader) error) error {
	packed := digest.NewCounter(from)
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return badArchive(packed, err)
	}
	bounded := &unpacking{from: unzipped, packed: packed, most: limits.SnapshotBytes + int64(limits.Files)*entryBytes,
		limits: limits}
	in := tar.NewReader(bounded)
	for files := 0; ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, bounded) // its sum stands at the end
			return badArchive(packed, err)
		}
		if err != nil {
			return badArchive(packed, err)
		}
		p, regular, err := entryOf(header)
		if err != nil {
			return err
		}
		if !regular {
			continue
		}
		if files++; files > limits.Files {
			return fault.New(fault.FilesTooMany, "the archive has more than %d files, which is the limit", limits.Files)
		}
		content := &contentOf{from: in, packed: packed}
		if err := put(p, header.FileInfo().Mode()&0o100 != 0, content); err != nil {
			return err
		}
	}
}

// entryOf returns a file's path, or says that the entry is none and can be passed over.
func entryOf(header *tar.Header) (p string, regular bool, err error) {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeXGlobalHeader:
		return "", false, nil // git archive begins with one
	default:
		return "", false, fault.New(fault.ArchiveEntry, "%.200q is neither a file nor a folder", header.Name)
	}
	p = header.Name
	for strings.HasPrefix(p, "./") { // as "tar -C folder ." has it
		p = p[2:]
	}
	if header.Typeflag == tar.TypeDir {
		p = strings.TrimSuffix(p, "/")
		if p == "" || p == "." {
			return "", false, nil
		}
		return "", false, CheckPath(p)
	}
	return p, true, CheckPath(p)
}

// badArchive explains an error of unpacking, unless it is one of reading the body, or ours.
func badArchive(packed *digest.Reader, err error) error {
	if err == nil || packed.Failed != nil {
		return errors.Join(packed.Failed)
	}
	if _, ours := errors.AsType[*fault.Error](err); ours {
		return err
	}
	return fault.Wrap(err, fault.ArchiveInvalid, "the body is not a whole archive in tar format, packed by gzip: %v", err)
}

// unpacking is what an archive unpacks to, as far as that may go.
type unpacking struct {
	from    io.Reader
	packed  *digest.Reader
	n, most int64
	limits  Limits
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	u.n += int64(n)
	switch {
	case u.n > bombBytes && u.n > bombRatio*u.packed.N:
		return 0, fault.New(fault.ArchiveBomb, "the archive unpacks to more than %d times its length", bombRatio)
	case u.n > u.most:
		return 0, errSnapshotBytes(u.limits)
	}
	return n, err
}

// contentOf is a file's content; what is wrong with the archive is explained.
type contentOf struct {
	from   io.Reader
	packed *digest.Reader
}

func (c *contentOf) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if err != nil && err != io.EOF {
		err = badArchive(c.packed, err)
	}
	return n, err
}

// writeArchive writes files as a tar archive, always the same for the same files.
func writeArchive(files []File, open func(File) (io.Reader, error), w io.Writer) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		mode := fs.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Clean(f.Path), Mode: int64(mode), Size: f.Size,
			ModTime: time.Unix(0, 0).UTC()})
		if err != nil {
			return err
		}
		content, err := open(f)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, content); err != nil {
			return err
		}
	}
	return out.Close()
}
