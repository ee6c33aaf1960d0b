package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/holdfast/holdfast/internal/durable"
)

const (
	fileMark     = "holdfast-master-key "
	fileFormat   = "1"
	fileMaxBytes = 64 << 10
	fileComment  = `# Holdfast's master key: it opens what is kept encrypted. Without this file nobody can.
# Keep a copy of it, and keep it apart from copies of the data. Newest key first.
`
)

// CreateMasterFile makes a master file with a new key, mode 0600, durably. It fails with
// fs.ErrExist when there is something at the path, and leaves that as it is.
func CreateMasterFile(path string) error {
	return durable.CreateNew(path, fileComment+fileMark+fileFormat+"\n"+fileLine(newKey()))
}

// AddMaster makes a new key in the master file, in front of those that are there: data keys
// are wrapped with it from then on, by who reads the file after that. The keys that are there
// have to stay until Rewrap has been called for all organizations. One caller at a time.
func AddMaster(path string) error {
	text, info, err := readMasterText(path)
	if err != nil {
		return err
	}
	if _, err := parseMaster(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	first := bytes.Index(text, []byte(fileMark+fileFormat+"\n")) + len(fileMark+fileFormat+"\n")
	return durable.Replace(path, string(text[:first])+fileLine(newKey())+string(text[first:]), info)
}

// ReadMasterFile reads a master file. It refuses one that other accounts can read, and one that
// is damaged or of a format that it doesn't know. Its errors tell nothing of the keys.
func ReadMasterFile(path string) (*Master, error) {
	text, _, err := readMasterText(path)
	if err != nil {
		return nil, err
	}
	master, err := parseMaster(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return master, nil
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

// fileLine is the line of a key.
func fileLine(key [keySize]byte) string { return fmt.Sprintf("%x %s\n", key, checkOf(key)) }

// checkOf finds slips of whoever copies a key by hand, and bits that the disk flipped.
func checkOf(key [keySize]byte) string {
	sum := sha256.Sum256(key[:])
	return hex.EncodeToString(sum[:4])
}

// parseMaster reads the text of a master file. It never quotes a line: that may be a key.
func parseMaster(text []byte) (*Master, error) {
	master, marked, number := &Master{}, false, 0
	for line := range strings.Lines(string(text)) {
		number++
		line, whole := strings.CutSuffix(line, "\n")
		switch {
		case !whole:
			return nil, fmt.Errorf("line %d has no end: the file was cut off", number)
		case line == "" || strings.HasPrefix(line, "#"):
		case !marked:
			if err := checkMark(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			marked = true
		default:
			if err := master.add(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
	}
	if len(master.keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return master, nil
}

func checkMark(line string) error {
	format, ok := strings.CutPrefix(line, fileMark)
	switch {
	case !ok:
		return fmt.Errorf("it is not %q: this is no master file", fileMark+fileFormat)
	case format != fileFormat:
		return fmt.Errorf("the format is not %s: a newer version may have written it", fileFormat)
	}
	return nil
}

// add takes one line with a key.
func (m *Master) add(line string) error {
	digits, check, _ := strings.Cut(line, " ")
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != keySize {
		return fmt.Errorf("it does not begin with %d hexadecimal digits", 2*keySize)
	}
	if check != checkOf([keySize]byte(raw)) {
		return errors.New("the key does not match its check digits: the line is damaged")
	}
	key := newMasterKey([keySize]byte(raw))
	for _, k := range m.keys {
		if k.id == key.id {
			return errors.New("the key is in the file twice")
		}
	}
	m.keys = append(m.keys, key)
	return nil
}
