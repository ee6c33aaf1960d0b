package backup

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// The format of archives, which a newer one counts on.
const format = 1

// The names of an archive's parts.
const (
	beginName    = "backup.json"
	wholeFolder  = "files/"   // and the name of a file
	changeFolder = "changes/" // and the name of a file, an @ and where in it the part belongs
	manifestName = "manifest.json"
)

// blockSize is how long the pieces are by which files are compared: several of SQLite's pages.
const blockSize = 32 << 10

// Begin stands first in an archive.
type Begin struct {
	Format  int       `json:"format"`
	ID      string    `json:"id"`
	Since   string    `json:"since,omitempty"` // the ID of the archive that this one is the changes of
	At      time.Time `json:"at"`              // the moment that it has
	Version string    `json:"version"`         // of the program that wrote it
}

// Described is a file in a manifest.
type Described struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Manifest stands last in an archive. It describes all files of the moment, also those that have not
// changed since the archive before.
type Manifest struct {
	Begin
	Files []Described `json:"files"`
	sum   string      // of its text, where it was read
}

// Index has the digests of an archive's blocks, by the file. The next archive is written as what differs
// from it, by who can't decrypt the one before.
type Index struct {
	ID string `json:"id"`
	// Manifest is the SHA-256 of the archive's manifest, which has those of all files. Who keeps the index apart
	// can tell the archive from another one. Older indexes have none.
	Manifest string              `json:"manifest,omitempty"`
	Files    map[string][]digest `json:"files"`
}

// digest is the beginning of a block's SHA-256: what is compared are blocks in one place.
type digest [16]byte

// MarshalText implements encoding.TextMarshaler.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("%.40q is no digest", text)
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// ReadIndex reads what Write returned.
func ReadIndex(from io.Reader) (Index, error) {
	var i Index
	err := json.NewDecoder(from).Decode(&i)
	if err == nil && i.ID == "" {
		err = fmt.Errorf("it is no index of a backup")
	}
	return i, err
}

// isFileName reports whether a folder may have a file of that name: it leads nowhere else, and is not hidden.
func isFileName(name string) bool {
	if name == "" || len(name) > 200 || name[0] == '.' || name[0] == '-' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	}) < 0
}

func changeName(file string, at int64) string {
	return changeFolder + file + "@" + strconv.FormatInt(at, 10)
}

// placeOf says which file a part belongs to, and where.
func placeOf(part string) (file string, at int64, whole bool, err error) {
	file, whole = strings.CutPrefix(part, wholeFolder)
	if !whole {
		rest, changed := strings.CutPrefix(part, changeFolder)
		name, place, _ := strings.Cut(rest, "@")
		if at, err = strconv.ParseInt(place, 10, 64); !changed || err != nil || at < 0 || at%blockSize != 0 {
			return "", 0, false, fmt.Errorf("the archive has a part %.80q, which no backup has", part)
		}
		file = name
	}
	if !isFileName(file) {
		return "", 0, false, fmt.Errorf("the archive has a part %.80q, whose name is none of a file that a backup has", part)
	}
	return file, at, whole, nil
}
