package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/bench"
)

// unlimited is a limit that nobody reaches: it is still counted, as on a server that has
// one.
const unlimited = "1000000000"

// Organizations are those of a server, in an auth file of its own.
type Organizations struct {
	File string // path of the auth file
	All  []bench.Identity
}

// MakeOrganizations writes an auth file with an organization for each of so many keys, and
// with idle ones beside them, whose keys nobody has. It takes 50 ms of a core for each key.
func MakeOrganizations(path string, keys, idle int) (Organizations, error) {
	made := Organizations{File: path, All: make([]bench.Identity, keys)}
	hashes, errs := make([]string, keys+1), make([]error, keys+1)
	var hashing sync.WaitGroup
	for i := range keys + 1 {
		hashing.Go(func() {
			id := bench.Identity{Org: uuid.New()}
			id.Key = auth.NewKey(id.Org)
			hashes[i], errs[i] = authfile.HashKey(id.Key)
			if i < keys {
				made.All[i] = id
			}
		})
	}
	hashing.Wait()
	var file strings.Builder
	for i, id := range made.All {
		writeOrganization(&file, id.Org, hashes[i])
	}
	for i := range idle {
		writeOrganization(&file, uuid.New(), likeHash(hashes[keys], i))
	}
	return made, errors.Join(errors.Join(errs...), os.WriteFile(path, []byte(file.String()), 0o600))
}

func writeOrganization(file *strings.Builder, id uuid.UUID, hash string) {
	fmt.Fprintf(file, "[%s]\napikey = %s\n\n", id, hash)
}

// likeHash returns another text of a hash's form for each number: hashes must differ, and
// no key needs to fit these.
func likeHash(hash string, number int) string {
	const start = len("$2a$10$")
	digits := fmt.Sprintf("%08d", number)
	return hash[:start] + digits + hash[start+len(digits):]
}

// StartServer starts the binary as it is shipped, with its data below dir: synced,
// authenticated and logging to a file. Only the limits of requests a minute are raised.
// More settings are NAME=VALUE.
func StartServer(ctx context.Context, binary, dir string, who Organizations, settings ...string) (*Process, error) {
	program, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	environ := append([]string{
		"HOST=127.0.0.1", "PORT=0", "STORAGE_PATH=" + filepath.Join(dir, "data"), "HOLDFAST_AUTH_FILE=" + who.File,
		"HOLDFAST_RATE_LIMIT=" + unlimited, "HOLDFAST_STATE_RATE_LIMIT=" + unlimited,
	}, settings...)
	return Start(ctx, dir, environ, program, "serve")
}
