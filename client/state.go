package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// The views of a state that are not all of it.
const (
	ViewOutputs  = "outputs"  // the outputs and no resources
	ViewRedacted = "redacted" // sensitive values are masked
)

// Which says which bytes of a state are meant; the zero value is the newest version, whole.
type Which struct {
	Version uint64 // 0 for the newest
	View    string // empty for the whole
}

// Content are bytes of a state, to be read to their end and closed.
type Content struct {
	io.ReadCloser
	Size            int64  // of what is read; -1 where it is not known beforehand
	Version, Serial uint64 // 0 for a candidate
	// Digest is the SHA-256 of the bytes, hexadecimal; empty where it is not known. Read
	// returns ErrDamaged at the end of bytes that don't match it.
	Digest string
	seen   hash.Hash
}

// Read implements io.Reader.
func (c *Content) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.seen.Write(p[:n])
	if err == io.EOF && c.Digest != "" && c.Digest != hex.EncodeToString(c.seen.Sum(nil)) {
		err = ErrDamaged
	}
	return n, err
}

func (c *Client) content(ctx context.Context, r request) (*Content, error) {
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(response.Header.Get(name), 10, 64) // 0 where there is none
		return n
	}
	return &Content{
		ReadCloser: whole{response.Body}, Size: response.ContentLength, seen: sha256.New(),
		Version: number("X-Holdfast-Version"), Serial: number("X-Holdfast-Serial"),
		Digest: digestOf(response.Header.Get("ETag")),
	}, nil
}

// digestOf returns the SHA-256 that a tag is made of; empty for another tag. The tag of what came
// in gzip says so, and a proxy that compresses makes it a weak one; both were undone on the way.
func digestOf(tag string) string {
	text := strings.TrimSuffix(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`), "-gzip")
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != sha256.Size {
		return ""
	}
	return text
}

// Get opens the exact bytes of a state, or a view of it, which has no digest. Where there is no
// such state the code is state_not_found. The caller closes it.
func (c *Client) Get(ctx context.Context, name string, which Which) (*Content, error) {
	r := ofState(http.MethodGet, name)
	r.query = map[string]string{"view": which.View, "version": positive(which.Version)}
	return c.content(ctx, r)
}

// Condition is what must be so for a write or a deletion; else its code is precondition_failed.
type Condition struct {
	LockID      string // of the lock that the caller holds; empty if nobody may hold one
	IfMatch     string // ETags of the state as it must be, each in quotes, or *
	IfNoneMatch string // * if there must be none
}

// Write says how a state is stored.
type Write struct {
	Condition
	Unlock        bool // release the lock with it
	RestorePurged bool // also if these bytes were purged from the state
}

// Stored is the version that a write made.
type Stored struct {
	api.Stored
	Warnings string // what the guards have found; empty for nothing
}

// Put stores what is left of a body as a state's next version. A body that can be read at its
// offsets, such as a bytes.Reader or a file, is sent again when the server asks for that; any
// other is sent once.
func (c *Client) Put(ctx context.Context, name string, content io.Reader, w Write) (stored Stored, err error) {
	r := w.on(ofState(http.MethodPost, name))
	r.query["unlock"], r.query["restore_purged"] = flag(w.Unlock), flag(w.RestorePurged)
	r.body = bodyOf(content)
	response, err := c.send(ctx, r)
	if err != nil {
		return stored, err
	}
	defer response.Body.Close()
	stored.Warnings = response.Header.Get("X-Holdfast-Warning")
	stored.Stored, err = readObject[api.Stored](response.Body)
	return stored, err
}

// Delete takes a state away; Undelete brings it back.
func (c *Client) Delete(ctx context.Context, name string, only Condition) error {
	_, err := ask[api.Done](ctx, c, only.on(ofState(http.MethodDelete, name)))
	return err
}

func (o Condition) on(r request) request {
	r.query = map[string]string{"ID": o.LockID}
	r.header = map[string]string{"If-Match": o.IfMatch, "If-None-Match": o.IfNoneMatch}
	return r
}

// Undelete brings a deleted state back, and returns its newest version.
func (c *Client) Undelete(ctx context.Context, name string) (api.Version, error) {
	return ask[api.Version](ctx, c, ofState(http.MethodPost, name, "undelete"))
}

func flag(set bool) string {
	if set {
		return "true"
	}
	return ""
}

func positive(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
