package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast/holdfast/internal/durable"
)

// DatabasesName is the file in which a folder lists its databases, so that one that is lost is missed.
const DatabasesName = "databases.json"

// Databases are those of a folder, by the names of their files.
type Databases struct {
	// Made are there: a server has opened each of them.
	Made []string `json:"made"`
	// Making are made by a start that has begun and may have been killed: each is there or not.
	Making []string `json:"making,omitempty"`
}

// ReadDatabases reads a folder's list; listed says whether it has one.
func ReadDatabases(dir string) (d Databases, listed bool, err error) {
	path := filepath.Join(dir, DatabasesName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return d, false, fmt.Errorf("read the list of the folder's databases %s: %w", path, err)
	}
	return d, true, nil
}

// Write writes the list, durably.
func (d Databases) Write(dir string) error {
	slices.Sort(d.Made)
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, DatabasesName), string(text)+"\n")
}

// HasBytes reports whether a file is there and not empty. It is true where nobody can say: who reads the file
// gets the error.
func HasBytes(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Size() > 0
}
