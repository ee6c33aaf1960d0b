package lastuse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/internal/follow"
)

// FileName is the name of the file of a Tracker, in the folder storage.path.
const FileName = "last-use.json"

// maxFileSize bounds that file in bytes.
const maxFileSize = 64 << 20

// Credential names what somebody came in with.
type Credential struct {
	Org uuid.UUID
	ID  string // a key's ID, or "oidc.<name>" or "cert.<name>"
}

// callers returns the IDs of all that somebody can come in with for the organization.
func callers(o *keyring.Organization) []string {
	ids := make([]string, 0, len(o.Keys)+len(o.Tokens)+len(o.Certificates))
	for _, k := range o.Keys {
		ids = append(ids, k.ID)
	}
	for _, rule := range o.Tokens {
		ids = append(ids, rule.ID())
	}
	for _, rule := range o.Certificates {
		ids = append(ids, rule.ID())
	}
	return ids
}

// Use is when and from where something was last used.
type Use struct {
	At   time.Time // UTC, to the second
	From string    // the client's address
}

// Uses says it for everything that was used at all.
type Uses map[Credential]Use

// in returns the uses of what is in the keyring.
func (u Uses) in(r *keyring.Keyring) Uses {
	kept := make(Uses, len(u))
	for org, o := range r.Organizations {
		for _, id := range callers(o) {
			c := Credential{org, id}
			if use, ok := u[c]; ok {
				kept[c] = use
			}
		}
	}
	return kept
}

// usesFile is the form of the file.
type usesFile struct {
	Keys []usedKey `json:"keys"`
}

type usedKey struct {
	Organization uuid.UUID `json:"organization"`
	KeyID        string    `json:"key_id"`
	At           time.Time `json:"at"`
	From         string    `json:"from"`
}

// Read reads the file of a Tracker. The error wraps fs.ErrNotExist while there is
// none: no server has written one yet.
func Read(path string) (Uses, error) {
	text, _, err := follow.ReadFile(path, maxFileSize)
	if err != nil {
		return nil, err
	}
	var file usesFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	uses := make(Uses, len(file.Keys))
	for _, k := range file.Keys {
		uses[Credential{k.Organization, k.KeyID}] = Use{k.At, k.From}
	}
	return uses, nil
}

// With returns the later use of each credential that one or the other has.
func (u Uses) With(others Uses) Uses {
	both := maps.Clone(others)
	for c, use := range u {
		if other, ok := both[c]; !ok || use.At.After(other.At) {
			both[c] = use
		}
	}
	return both
}

// Write writes the file of a Tracker that nobody has open.
func Write(path string, uses Uses) error { return write(path, uses) }

// write puts the file in place, mode 0600: addresses are nobody else's business.
func write(path string, uses Uses) error {
	file := usesFile{Keys: make([]usedKey, 0, len(uses))}
	for c, use := range uses {
		file.Keys = append(file.Keys, usedKey{c.Org, c.ID, use.At, use.From})
	}
	slices.SortFunc(file.Keys, func(a, b usedKey) int {
		return cmp.Or(bytes.Compare(a.Organization[:], b.Organization[:]), strings.Compare(a.KeyID, b.KeyID))
	})
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return durable.Write(path, string(text)+"\n")
}
