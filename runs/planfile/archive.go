package planfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
)

const (
	endRecordSize    = 22
	entryHeaderSize  = 46
	maxNameLength    = 4096
	flagDescriptor   = 0x8   // the sizes come behind the data
	flagUTF8         = 0x800 // names are UTF-8
	extra64          = 1     // sizes of 64 bits
	ratioMattersFrom = 1 << 20
)

// archive is the members of a plan file by their names.
type archive struct {
	members map[string]*zip.File
	limits  Limits
}

// openArchive reads the archive's directory. It looks at the end record before archive/zip does,
// because that makes a value for each entry there, however many a small file claims or has.
func openArchive(r io.ReaderAt, size int64, limits Limits) (*archive, error) {
	if err := checkEnd(r, size, limits); err != nil {
		return nil, err
	}
	files, err := zip.NewReader(r, size)
	if err != nil {
		return nil, unreadable(err, "its directory")
	}
	a := &archive{members: make(map[string]*zip.File, len(files.File)), limits: limits}
	var total uint64
	for _, file := range files.File {
		if err := checkMember(file, limits); err != nil {
			return nil, err
		}
		if a.members[file.Name] != nil {
			return nil, invalid("the plan file has the member %q twice", file.Name)
		}
		a.members[file.Name] = file
		// Both are bounded, the number of members and the size of each, so this can't overflow.
		if total += file.UncompressedSize64; total > uint64(limits.Total) {
			return nil, tooLarge("the members of the plan file have more than %d bytes", limits.Total)
		}
	}
	return a, nil
}

// checkEnd wants the file to end with the one end record, whose directory ends where it begins:
// no comment, no second disk, no 64-bit record, nothing in between.
func checkEnd(r io.ReaderAt, size int64, limits Limits) error {
	if size < endRecordSize {
		return invalid("the file is no plan file: it is too short for a zip archive")
	}
	var end [endRecordSize]byte
	if _, err := r.ReadAt(end[:], size-endRecordSize); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.HasPrefix(end[:], []byte("PK\x05\x06")) {
		return invalid("the file is no plan file: no zip archive ends where it ends")
	}
	little := binary.LittleEndian
	disks := little.Uint32(end[4:])
	here, entries := little.Uint16(end[8:]), little.Uint16(end[10:])
	length, offset := int64(little.Uint32(end[12:])), int64(little.Uint32(end[16:]))
	comment := little.Uint16(end[20:])
	switch {
	case disks != 0 || here != entries || comment != 0 || entries == 1<<16-1:
		return invalid("the plan file's archive is not as the tools write it: it has several disks, a comment or " +
			"64-bit records")
	case offset+length != size-endRecordSize || int64(entries)*entryHeaderSize > length:
		return invalid("the plan file's directory is not where its end says")
	case int(entries) > limits.Members:
		return tooLarge("the plan file has %d members, more than the %d that one may have", entries, limits.Members)
	case length > int64(limits.Members)*1024:
		return tooLarge("the plan file's directory has %d bytes", length)
	}
	return nil
}

func checkMember(file *zip.File, limits Limits) error {
	switch {
	case !nameIsPlain(file.Name):
		return invalid("the plan file has a member whose name is not a plain relative path: %.100q", file.Name)
	case file.Flags&^(flagDescriptor|flagUTF8) != 0:
		return invalid("the member %q of the plan file is encrypted or packed in a way that the tools don't use", file.Name)
	case file.Method != zip.Deflate && file.Method != zip.Store:
		return invalid("the member %q of the plan file is packed by an unknown method", file.Name)
	case !file.Mode().IsRegular():
		return invalid("the member %q of the plan file is not a regular file", file.Name)
	case hasExtra64(file.Extra):
		return invalid("the member %q of the plan file has sizes of 64 bits", file.Name)
	case file.UncompressedSize64 > uint64(limits.Member):
		return tooLarge("the member %q of the plan file has %d bytes, more than the %d that one may have", file.Name,
			file.UncompressedSize64, limits.Member)
	case file.UncompressedSize64 > ratioMattersFrom &&
		file.UncompressedSize64/uint64(limits.Ratio) > file.CompressedSize64:
		return tooLarge("the member %q of the plan file is packed more than %d times", file.Name, limits.Ratio)
	}
	return nil
}

// nameIsPlain: a name that is its own cleaned form has no empty, dot or parent segment but at its
// beginning.
func nameIsPlain(name string) bool {
	return name != "" && len(name) <= maxNameLength && utf8.ValidString(name) && !strings.ContainsAny(name, "\\\x00") &&
		path.Clean(name) == name && name != "." && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
}

// hasExtra64 walks the extra fields; bytes that are none count as one.
func hasExtra64(extra []byte) bool {
	for len(extra) >= 4 {
		id, length := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if id == extra64 || length > len(extra)-4 {
			return true
		}
		extra = extra[4+length:]
	}
	return len(extra) > 0
}

// read unpacks a member to a function, which need not read all of it. What it leaves is read
// here, so that the member's checksum is looked at in any case.
func (a *archive) read(name string, read func(io.Reader) error) error {
	file := a.members[name]
	if file == nil {
		return invalid("the file is no plan file: it has no member %q", name)
	}
	content, err := file.Open()
	if err != nil {
		return unreadable(err, name)
	}
	defer content.Close()
	bounded := &faultReader{r: io.LimitReader(content, a.limits.Member+1), name: name}
	err = read(bounded)
	if err == nil {
		_, err = io.Copy(io.Discard, bounded)
	}
	return bounded.first(err)
}

// faultReader makes faults of errors in the packed data, and remembers the first error, so that
// whoever reads from it may take it for a fault of the content.
type faultReader struct {
	r    io.Reader
	name string
	err  error
}

func (f *faultReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = unreadable(err, f.name)
		return n, f.err
	}
	return n, err
}

// first is the reader's own error, or else what came of reading.
func (f *faultReader) first(err error) error {
	if f.err != nil {
		return f.err
	}
	return err
}

// unreadable says that a part of the file is damaged, if err means that; other errors are those
// of whoever holds the file, and go through.
func unreadable(err error, part string) error {
	if isDamage(err) {
		return fault.Wrap(err, fault.PlanFileInvalid, "the plan file is damaged: %s can't be read", part)
	}
	return err
}
