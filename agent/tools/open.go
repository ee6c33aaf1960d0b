package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// Open returns a version of a tool once its binary was found to be what was recorded. The
// digest is computed again when the file looks different from the last time.
func (s *Store) Open(ctx context.Context, name Name, text string) (Tool, error) {
	v, err := parseVersion(text)
	if err != nil {
		return Tool{}, err
	}
	tool, err := s.record(name, v)
	if err == nil {
		err = s.verify(ctx, tool)
	}
	if fault.Is(err, fault.ToolChanged) { // or was removed as a whole since the record was read
		if _, again := s.record(name, v); errors.Is(again, fs.ErrNotExist) {
			err = again
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Tool{}, s.unavailable(ctx, name, "%s %s is not installed here", name, v)
	case err != nil:
		return Tool{}, err
	}
	return tool, nil
}

// present is Open for who is about to add the version: a missing or changed one is none.
func (s *Store) present(ctx context.Context, name Name, v *version.Version) (Tool, bool, error) {
	tool, err := s.record(name, v)
	if err == nil {
		err = s.verify(ctx, tool)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), fault.Is(err, fault.ToolChanged):
		return Tool{}, false, nil
	case err != nil:
		return Tool{}, false, err
	}
	return tool, true, nil
}

// sighting is how a binary looked when its digest was last found to be right.
type sighting struct {
	info    fs.FileInfo
	changed int64 // when the inode was last changed, where the system tells
	sha256  string
}

// unchanged reports whether the file is the very one that was seen: the same inode, with the
// same times and size. The time of a change of the inode can't be set back by its owner.
func (seen sighting) unchanged(info fs.FileInfo, sum string) bool {
	return seen.info != nil && seen.sha256 == sum && os.SameFile(seen.info, info) && seen.info.Size() == info.Size() &&
		seen.info.Mode() == info.Mode() && seen.info.ModTime().Equal(info.ModTime()) && seen.changed == changeTime(info)
}

// verify refuses a binary that is not what was recorded.
func (s *Store) verify(ctx context.Context, tool Tool) error {
	info, err := os.Lstat(tool.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return changed(tool, "it is gone")
	}
	if err != nil {
		return unreadable(err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return changed(tool, "it is no program any more")
	}
	s.mu.Lock()
	seen := s.verified[tool.Path]
	s.mu.Unlock()
	if seen.unchanged(info, tool.SHA256) {
		return nil
	}
	sum, info, err := digest(ctx, tool.Path)
	if err != nil {
		return err
	}
	if sum != tool.SHA256 || info.Size() != tool.Size {
		return changed(tool, "its SHA-256 is "+sum)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified[tool.Path] = sighting{info, changeTime(info), sum}
	return nil
}

func changed(tool Tool, how string) error {
	return fault.New(fault.ToolChanged,
		"the binary of %s %s is not the one that was added, of SHA-256 %s: %s; remove it and add it again", tool.Name,
		tool.Version, tool.SHA256, how)
}

// digest returns the SHA-256 of a file, and what the file was when it was read.
func digest(ctx context.Context, path string) (sum string, info fs.FileInfo, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, unreadable(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Before it is read: a change meanwhile makes it look different the next time.
	if info, err = f.Stat(); err != nil {
		return "", nil, unreadable(err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, while(ctx, f)); err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, unreadable(err)
	}
	return hex.EncodeToString(hash.Sum(nil)), info, nil
}

// while returns a reader of r that ends with the context's error.
func while(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
