package csv

import (
	"os"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// appendFile is what appending needs of a file.
type appendFile interface {
	WriteAt(p []byte, offset int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// opener opens the file at path, or makes it.
type opener func(path string) (appendFile, error)

func openFile(path string) (appendFile, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// fileCache keeps files open that are not in use right now. One that is in use is its
// user's; too many are closed, the least recently used first.
type fileCache struct {
	open opener
	mu   sync.Mutex
	idle *simplelru.LRU[uuid.UUID, appendFile]
}

func newFileCache(size int, open opener) *fileCache {
	// Nothing is lost with a failing Close: what counts was fsynced before.
	idle, _ := simplelru.NewLRU(max(size, 1), func(_ uuid.UUID, f appendFile) {
		if f != nil {
			_ = f.Close()
		}
	})
	return &fileCache{open: open, idle: idle}
}

// acquire returns the organization's file, for one user at a time.
func (c *fileCache) acquire(org uuid.UUID, path string) (appendFile, error) {
	c.mu.Lock()
	f, ok := c.idle.Get(org)
	if ok {
		c.idle.Add(org, nil) // so that its removal does not close it
		c.idle.Remove(org)
	}
	c.mu.Unlock()
	if ok {
		return f, nil
	}
	return c.open(path)
}

// release keeps the file for the next user.
func (c *fileCache) release(org uuid.UUID, f appendFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle.Add(org, f)
}

// forget closes the organization's file, if nobody uses it.
func (c *fileCache) forget(org uuid.UUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle.Remove(org)
}

func (c *fileCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle.Purge()
}
