package gitmirror

import (
	"context"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
)

// Large is a file of Git LFS, as the pointer that a commit has in its place says.
type Large struct {
	Digest string // SHA-256, in hexadecimal
	Size   int64
}

// maxPointer is how long a pointer may be, as the specification has it.
const maxPointer = 1024

// parsePointer reads a pointer: lines of a key and a value, of which the first one says that it is a pointer.
func parsePointer(text string) (Large, bool) {
	rest, ok := strings.CutPrefix(text, "version https://git-lfs.github.com/spec/v1\n")
	if !ok || len(text) > maxPointer {
		return Large{}, false
	}
	found := Large{Size: -1}
	for line := range strings.Lines(rest) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "oid":
			found.Digest, _ = strings.CutPrefix(value, "sha256:")
		case "size":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				found.Size = n
			}
		}
	}
	raw, err := hex.DecodeString(found.Digest)
	return found, err == nil && len(raw) == 32 && found.Digest == strings.ToLower(found.Digest) && found.Size >= 0
}

// point looks whether a file that is picked is a pointer, where those are followed: those of submodules are of other
// servers, and stay.
func (p *picking) point(ctx context.Context, e *Entry) error {
	if p.a.Large == nil || e.Size > maxPointer || p.t.rootOf(e.Path) != "" {
		return nil
	}
	text, err := p.t.content(ctx, *e, maxPointer)
	if err != nil {
		return err
	}
	if large, ok := parsePointer(string(text)); ok {
		e.large, e.Size = &large, large.Size
	}
	return nil
}

// copyLarge has the content of a file of Git LFS read.
func (a Archiving) copyLarge(ctx context.Context, e Entry, to io.Writer) error {
	content, err := a.Large(ctx, *e.large)
	if err != nil {
		return inFile(e.Path, err)
	}
	defer content.Close()
	n, err := io.Copy(to, io.LimitReader(content, e.Size))
	if err == nil && n != e.Size {
		err = newError(Failed, "%.200q has %d bytes, and not %d as its pointer says", e.Path, n, e.Size)
	}
	return err
}

func inFile(at string, err error) error {
	kind := KindOf(err)
	if kind == "" {
		return err
	}
	return newError(kind, "the file %.200q of Git LFS: %s", at, err.Error())
}
