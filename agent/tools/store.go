package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/disk"
)

// Where a tool came from.
const (
	FromFile     = "file"
	FromPath     = "path"
	FromDownload = "download"
)

// Tool is one version of a tool that the store has. Its record on disk has everything but
// Path.
type Tool struct {
	Name    Name      `json:"tool"`
	Version string    `json:"version"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`
	SHA256  string    `json:"sha256"` // of the binary, in hexadecimal digits
	Size    int64     `json:"size"`
	Source  string    `json:"source"` // FromFile, FromPath or FromDownload
	Origin  string    `json:"origin"` // the file or the address that it came from
	Added   time.Time `json:"added"`
	Path    string    `json:"-"` // of the binary
}

// Settings says where a Store has its folder, and from where it may download.
type Settings struct {
	Root          string // made when something is added
	AllowDownload bool
	Terraform     Mirror
	OpenTofu      Mirror
	Now           func() time.Time // time.Now if nil
}

// Store is a folder of tools. It is safe for concurrent use, by several processes too.
type Store struct {
	settings Settings
	client   *http.Client

	mu       sync.Mutex
	verified map[string]sighting // by path
}

// New returns the store of a folder, which need not be there yet.
func New(settings Settings) *Store {
	if settings.Now == nil {
		settings.Now = time.Now
	}
	return &Store{settings: settings, client: newClient(), verified: map[string]sighting{}}
}

// recordFile is the file beside a binary that says what it is.
const recordFile = "record.json"

// folder is where a version of a tool is kept.
func (s *Store) folder(name Name, v *version.Version) string {
	return filepath.Join(s.settings.Root, string(name), v.String(), platform())
}

// List returns the tools that the store has for this machine, by name, newest first. It does
// not look whether they have changed.
func (s *Store) List(ctx context.Context) ([]Tool, error) {
	var all []Tool
	for _, name := range Names() {
		tools, err := s.installed(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, tools...)
	}
	return all, nil
}

// Versions returns the versions of a tool that the store has for this machine, newest first, and whether others are
// downloaded when they are wanted.
func (s *Store) Versions(ctx context.Context, name Name) (all []string, downloads bool, err error) {
	tools, err := s.installed(ctx, name)
	for _, tool := range tools {
		all = append(all, tool.Version)
	}
	return all, s.downloads(name), err
}

// installed returns the versions of one tool, newest first.
func (s *Store) installed(ctx context.Context, name Name) ([]Tool, error) {
	entries, err := os.ReadDir(filepath.Join(s.settings.Root, string(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(err)
	}
	var versions []*version.Version
	for _, entry := range entries {
		if v, err := parseVersion(entry.Name()); err == nil && v.String() == entry.Name() {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b *version.Version) int { return b.Compare(a) })
	var tools []Tool
	for _, v := range versions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tool, err := s.record(name, v)
		switch {
		case errors.Is(err, fs.ErrNotExist): // for another platform, or being removed
		case err != nil:
			return nil, err
		default:
			tools = append(tools, tool)
		}
	}
	return tools, nil
}

// record reads what is written of a version; fs.ErrNotExist if the store does not have it.
func (s *Store) record(name Name, v *version.Version) (Tool, error) {
	dir := s.folder(name, v)
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Tool{}, err
	}
	if err != nil {
		return Tool{}, unreadable(err)
	}
	var tool Tool
	if err := json.Unmarshal(data, &tool); err != nil || tool.Name != name || tool.Version != v.String() {
		return Tool{}, fault.Wrap(err, fault.ToolChanged, "what is recorded of %s %s is damaged; remove it and add it again",
			name, v)
	}
	tool.Path = filepath.Join(dir, name.Binary())
	return tool, nil
}

// Remove takes a version out of the store. What runs with it now keeps running. It is no
// fault if the version is not there.
func (s *Store) Remove(ctx context.Context, name Name, text string) (removed bool, err error) {
	v, err := parseVersion(text)
	if err != nil {
		return false, err
	}
	if _, err := os.Lstat(s.folder(name, v)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = s.locked(ctx, name, v, func(staging string) error {
		removed = true
		// First out of sight as a whole, so that nobody finds a part of it.
		aside := filepath.Join(staging, "removed")
		if err := os.Rename(s.folder(name, v), aside); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				removed = false
				return nil
			}
			return err
		}
		// What else stands here belongs to other platforms.
		_ = os.Remove(filepath.Dir(s.folder(name, v)))
		return os.RemoveAll(aside)
	})
	return removed, err
}

const (
	stagingFolder = ".staging"
	locksFolder   = ".locks"
	lockInterval  = 50 * time.Millisecond
)

// locked runs work while nobody else changes this version of the tool, with an empty folder
// that is removed afterwards. The folder's name is always the same, so that what a crash
// leaves behind is removed by whoever comes next. The lock's file stays: to remove it would
// let two processes lock two different files.
func (s *Store) locked(ctx context.Context, name Name, v *version.Version,
	work func(staging string) error) (err error) {
	key := fmt.Sprintf("%s_%s_%s", name, v, platform())
	staging := filepath.Join(s.settings.Root, stagingFolder, key)
	locks := filepath.Join(s.settings.Root, locksFolder)
	if err := errors.Join(os.MkdirAll(filepath.Dir(staging), 0o755), os.MkdirAll(locks, 0o755)); err != nil {
		return unwritable(err)
	}
	lock := flock.New(filepath.Join(locks, key+".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		if ctx.Err() != nil {
			return fault.Wrap(err, fault.Interrupted, "somebody else was adding or removing %s %s all the time", name, v)
		}
		return unwritable(err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := errors.Join(os.RemoveAll(staging), os.Mkdir(staging, 0o700)); err != nil {
		return unwritable(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	return unwritable(work(staging))
}

func unreadable(err error) error {
	return fault.Wrap(err, fault.StoreUnavailable, "the store of tools can't be read")
}

// unwritable classifies a failed change. What is a fault already stays one.
func unwritable(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if disk.NoRoom(err) {
		return fault.Wrap(err, fault.StoreFull, "there is no room for the tool: its disk is full")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the store of tools can't be written")
}
