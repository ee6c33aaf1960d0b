package main

import (
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/storage/folder"
)

// What stands beside a file while it is exported, behind its name with a dot before it.
const (
	partialEnd = ".partial" // what is written
	keptEnd    = ".kept"    // what an export that was broken off had written
	lockEnd    = ".lock"
)

// keptExport is an export on its way to its file, with what earlier ones have left that were broken off: contents
// that the server need not send again. Only what has the digest that the server says is taken from there.
type keptExport struct {
	out  string
	lock *flock.Flock
	file *os.File // nil for nothing
	has  map[string]keptEntry
}

// keptEntry is where the compressed bytes of a content are.
type keptEntry struct{ offset, size int64 }

// openKept keeps other exports from the file, and finds what there is.
func openKept(out string) (*keptExport, error) {
	lock, err := folder.Take(filepath.Dir(out), "."+filepath.Base(out)+lockEnd)
	if err != nil {
		return nil, err
	}
	k := &keptExport{out: out, lock: lock, has: map[string]keptEntry{}}
	if err := k.find(); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

func (k *keptExport) path(end string) string {
	return filepath.Join(filepath.Dir(k.out), "."+filepath.Base(k.out)+end)
}

// find has what was written last be what is kept, unless that is less: one that goes on begins with what was kept.
func (k *keptExport) find() error {
	if sizeOf(k.path(partialEnd)) > sizeOf(k.path(keptEnd)) {
		if err := os.Rename(k.path(partialEnd), k.path(keptEnd)); err != nil {
			return err
		}
	}
	file, err := os.Open(k.path(keptEnd))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	k.file = file
	from := &positioned{from: bufio.NewReaderSize(file, 64<<10)}
	for {
		digest, entry, err := from.entry()
		if err != nil {
			return nil // it was broken off here
		}
		k.has[digest] = entry
	}
}

func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// open returns a content that is kept; nil for one that is not.
func (k *keptExport) open(digest string) io.Reader {
	if k == nil {
		return nil
	}
	entry, ok := k.has[digest]
	if !ok {
		return nil
	}
	return flate.NewReader(io.NewSectionReader(k.file, entry.offset, entry.size))
}

// write makes the file, which is there whole or not at all. What it has come to otherwise is kept, if that is any.
func (k *keptExport) write(do func(io.Writer) error) error {
	if err := removeFile(k.path(partialEnd)); err != nil {
		return err
	}
	f, err := os.OpenFile(k.path(partialEnd), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = do(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = durable.Move(k.path(partialEnd), k.out)
	}
	if err == nil {
		return k.clear()
	}
	if sizeOf(k.path(partialEnd)) == 0 && len(k.has) == 0 {
		return errors.Join(err, k.clear())
	}
	return fmt.Errorf("%w\nWhat was fetched is kept beside %s, in files %s…, with all secrets in it. The same command goes on from "+
		"there", err, k.out, k.path("."))
}

// clear removes what is kept.
func (k *keptExport) clear() error {
	err := k.close()
	for _, end := range []string{partialEnd, keptEnd, lockEnd} {
		err = errors.Join(err, removeFile(k.path(end)))
	}
	return err
}

// close lets other exports to the file begin. It may be called again.
func (k *keptExport) close() (err error) {
	if k.file != nil {
		err = k.file.Close()
		k.file = nil
	}
	return errors.Join(err, k.lock.Close())
}

// positioned is a reader that knows where it is.
type positioned struct {
	from *bufio.Reader
	at   int64
}

// Read implements io.Reader.
func (p *positioned) Read(into []byte) (int, error) {
	n, err := p.from.Read(into)
	p.at += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader, so that nobody reads further than he has to.
func (p *positioned) ReadByte() (byte, error) {
	b, err := p.from.ReadByte()
	if err == nil {
		p.at++
	}
	return b, err
}

// How archive/zip writes an entry whose size it does not know before: a header, compressed bytes, and a descriptor.
const (
	entryHeader     = 30
	entrySignature  = 0x04034b50
	entryDescriptor = 16
	afterSignature  = 0x08074b50
	sizesFollow     = 1 << 3
	deflated        = 8
)

var errNoEntry = errors.New("no whole entry follows")

// entry reads an entry of a zip file, without the list of them at its end, which is not there yet.
func (p *positioned) entry() (digest string, entry keptEntry, err error) {
	var head [entryHeader]byte
	if _, err := io.ReadFull(p, head[:]); err != nil {
		return "", entry, err
	}
	le := binary.LittleEndian
	if le.Uint32(head[0:]) != entrySignature || le.Uint16(head[6:])&sizesFollow == 0 || le.Uint16(head[8:]) != deflated {
		return "", entry, errNoEntry
	}
	name := int64(le.Uint16(head[26:])) + int64(le.Uint16(head[28:]))
	if _, err := io.CopyN(io.Discard, p, name); err != nil {
		return "", entry, err
	}
	entry.offset = p.at
	sum, check, size := sha256.New(), crc32.NewIEEE(), counter(0)
	if _, err := io.Copy(io.MultiWriter(sum, check, &size), flate.NewReader(p)); err != nil {
		return "", entry, err
	}
	entry.size = p.at - entry.offset
	var behind [entryDescriptor]byte
	if _, err := io.ReadFull(p, behind[:]); err != nil {
		return "", entry, err
	}
	if le.Uint32(behind[0:]) != afterSignature || le.Uint32(behind[4:]) != check.Sum32() ||
		int64(le.Uint32(behind[8:])) != entry.size || int64(le.Uint32(behind[12:])) != int64(size) {
		return "", entry, errNoEntry
	}
	return hex.EncodeToString(sum.Sum(nil)), entry, nil
}
