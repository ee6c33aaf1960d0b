package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

const (
	fileMark   = "holdfast-master-key "
	fileFormat = "1"
	// fileFormatKept may also have keys that a keeper has wrapped.
	fileFormatKept = "2"
	// fileFormatTree may also have keys that can forget organizations, which all new ones are.
	fileFormatTree = "3"
	// fileMaxBytes is room for some 1,900 organizations that a key has forgotten.
	fileMaxBytes = 16 << 20
	fileComment  = `# Holdfast's master key: it opens what is kept encrypted. Without this file nobody can.
# Keep a copy of it, and keep it apart from copies of the data. Newest key first.
`
)

// CreateMasterFile is Create of a file without a Keeper.
func CreateMasterFile(path string) error { return Source{Path: path}.Create(context.Background()) }

// AddMaster is Add of a file without a Keeper.
func AddMaster(path string) error { return Source{Path: path}.Add(context.Background()) }

// ReadMasterFile is Read of a file without a Keeper.
func ReadMasterFile(path string) (*Master, error) {
	return Source{Path: path}.Read(context.Background())
}

func readMasterText(path string) (text []byte, info fs.FileInfo, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a file", path) // opening a pipe would wait
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err = f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, nil, fmt.Errorf("%s is open to others than its owner (mode %04o); `chmod 600` closes it, and whoever "+
			"may have read it can open what is sealed", path, mode)
	}
	text, err = io.ReadAll(io.LimitReader(f, fileMaxBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > fileMaxBytes {
		return nil, nil, fmt.Errorf("%s is too large for a master file", path)
	}
	return text, info, nil
}

// masterLine is the line of a key.
type masterLine struct {
	number  int           // in the file
	key     [keySize]byte // zero for one that a keeper has wrapped
	keeper  string        // empty for none
	wrapped string
	check   string
	tree    string // sealed with the key, what wraps data keys; empty for a key of an older file
	before  string // comments and blank lines of whoever keeps the file
}

// lineOf returns a new line with a key that can forget organizations.
func lineOf(key masterKey) masterLine {
	by := newKey()
	tree := sealTree(by, key)
	return masterLine{key: by, tree: tree, check: checkOf(by, tree)}
}

func (l masterLine) text() string {
	text := fmt.Sprintf("%x %s", l.key, l.check)
	if l.keeper != "" {
		text = fmt.Sprintf("%s:%s %s", l.keeper, l.wrapped, l.check)
	}
	if l.tree != "" {
		text += " " + l.tree
	}
	return l.before + text + "\n"
}

// fileText is the text of a file with these keys, in the oldest format that has what they need. One that would be too
// large to be read is refused.
func fileText(lines []masterLine) (string, error) {
	format := fileFormat
	var text strings.Builder
	for _, line := range lines {
		_, _ = text.WriteString(line.text())
		switch {
		case line.tree != "":
			format = fileFormatTree
		case line.keeper != "" && format == fileFormat:
			format = fileFormatKept
		}
	}
	whole := fileComment + fileMark + format + "\n" + text.String()
	if len(whole) > fileMaxBytes {
		return "", errors.New("it would have no room for all organizations that were forgotten: `holdfast seal rotate`, and take " +
			"out the older keys once no backup needs them any more")
	}
	return whole, nil
}

// checkOf finds slips of whoever copies a key by hand, and bits that the disk flipped.
func checkOf(key [keySize]byte, tree string) string {
	sum := sha256.Sum256(append(key[:], tree...))
	return hex.EncodeToString(sum[:4])
}

// parseMaster reads the text of a master file. It never quotes a line: that may be a key.
func parseMaster(text []byte) ([]masterLine, error) {
	var lines []masterLine
	format, before, number := "", "", 0
	for line := range strings.Lines(string(text)) {
		number++
		line, whole := strings.CutSuffix(line, "\n")
		switch {
		case !whole:
			return nil, fmt.Errorf("line %d has no end: the file was cut off", number)
		case line == "" || strings.HasPrefix(line, "#"):
			before += line + "\n"
		case format == "":
			if err := checkMark(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			format, before = strings.TrimPrefix(line, fileMark), ""
		default:
			one, err := parseLine(line, format)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			one.number, one.before, before = number, before, ""
			lines = append(lines, one)
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return lines, nil
}

func checkMark(line string) error {
	format, ok := strings.CutPrefix(line, fileMark)
	switch {
	case !ok:
		return fmt.Errorf("it is not %q: this is no master file", fileMark+fileFormat)
	case format != fileFormat && format != fileFormatKept && format != fileFormatTree:
		return fmt.Errorf("the format is not one from %s to %s: a newer version may have written it", fileFormat,
			fileFormatTree)
	}
	return nil
}

// parseLine reads one line with a key.
func parseLine(line, format string) (l masterLine, err error) {
	var first string
	first, l.check, _ = strings.Cut(line, " ")
	if format == fileFormatTree {
		l.check, l.tree, _ = strings.Cut(l.check, " ")
	}
	if format != fileFormat {
		l.keeper, l.wrapped, _ = strings.Cut(first, ":")
		if l.wrapped != "" {
			return l, nil
		}
		l.keeper = ""
	}
	raw, err := hex.DecodeString(first)
	if err != nil || len(raw) != keySize {
		return l, fmt.Errorf("it does not begin with %d hexadecimal digits", 2*keySize)
	}
	if l.check != checkOf([keySize]byte(raw), l.tree) {
		return l, errors.New("the key does not match its check digits: the line is damaged")
	}
	l.key = [keySize]byte(raw)
	return l, nil
}

// add takes one key more.
func (m *Master) add(key masterKey) error {
	for _, k := range m.keys {
		if k.id == key.id {
			return errors.New("the key is there twice")
		}
	}
	m.keys = append(m.keys, key)
	return nil
}
