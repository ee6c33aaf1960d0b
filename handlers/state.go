package handlers

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// states serves the state protocol in one spelling.
type states struct {
	service *state.Service
	// index is to have nothing of a version that is purged; nil for none.
	index    *resources.Service
	quota    *quota.Keeper
	lists    lists
	maxBytes int64
	spelling dialect
	aliases  Aliases  // nil for none
	keys     KeyNames // nil for none
}

// KeyNames says what people call keys. *authfile.Watcher is one.
type KeyNames interface {
	// KeyName returns what a key is called by its ID; empty for one that is gone, or is called nothing.
	KeyName(org uuid.UUID, id string) string
}

// describer describes states to who asks for them.
func (s states) describer(r *request) describer {
	if s.keys == nil {
		return nil
	}
	return func(keyID string) string { return s.keys.KeyName(r.caller.Org, keyID) }
}

// stateHandler is a handler of what is about one state.
type stateHandler func(ctx context.Context, r *request, name state.Name) (answer, error)

// named reads the state's name, which then stands in the log too.
func (s states) named(h stateHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) {
		name, err := s.stateName(r)
		if err != nil {
			return nil, err
		}
		r.annotate(slog.String("state", string(name)))
		return h(ctx, r, name)
	}
}

// get sends the newest version, or what the query selects of it. An unknown version is not
// 404, which clients take for an absent state.
func (s states) get(ctx context.Context, r *request, name state.Name) (answer, error) {
	view, number := state.ViewKind(r.filled("view")), r.number("version")
	if view != "" && view != state.OutputsView && view != state.RedactedView {
		r.invalid("the query's view is neither outputs nor redacted")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	said, err := s.selected(ctx, r, name, view, number)
	if fault.Is(err, fault.VersionNotFound) {
		return nil, fault.Wrap(err, fault.ParameterInvalid, "the state has no version %d", number)
	}
	return s.absentOr(said, err)
}

// selected is a version's exact bytes, or a view of it. That has no ETag: the digest is that
// of the whole, of which the reader may know nothing.
func (s states) selected(ctx context.Context, r *request, name state.Name, view state.ViewKind,
	number uint64) (answer, error) {
	if view == "" {
		return s.bytes(ctx, r, name, number)
	}
	made, err := s.service.View(ctx, r.caller, name, view, number)
	if err != nil {
		return nil, err
	}
	return rendered{mediaJSON, made, numbers(made.Version)}, nil
}

// bytes are a version's exact bytes.
func (s states) bytes(ctx context.Context, r *request, name state.Name, number uint64) (answer, error) {
	loaded, err := s.service.Version(ctx, r.caller, name, number)
	if err != nil {
		return nil, err
	}
	pack := func() bool { return s.service.Pack(r.caller, name, &loaded) }
	return versionAnswer{&loaded, pack}, nil
}

// versionAnswer is a version's exact bytes, unless the reader has them.
type versionAnswer struct {
	loaded *state.Loaded
	pack   func() bool // puts the bytes in gzip, if that can be had
}

func (v versionAnswer) send(c *gin.Context) error {
	defer v.loaded.Release()
	tag := etag(v.loaded.Version)
	header, values := c.Writer.Header(), [...]string{tag, "Accept-Encoding"}
	setNumbers(header, v.loaded.Version)
	header["Etag"] = values[0:1:1]
	header["Vary"] = values[1:2:2]
	if had := matches(c.GetHeader("If-None-Match"), tag, packedTag(tag)); had != "" {
		header["Etag"] = []string{had}
		c.Status(http.StatusNotModified)
		return nil
	}
	if acceptsGzip(c.GetHeader("Accept-Encoding")) && v.pack() {
		header["Etag"] = []string{packedTag(tag)}
		header["Content-Encoding"] = []string{"gzip"}
	}
	sendBody(c, v.loaded.Body)
	return nil
}

// permitted refuses who lacks a right before the body is read: a large one takes up room that others
// need.
func (s states) permitted(right auth.Right) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := &request{caller: middleware.Principal(c), c: c} // its query is read once, by the handler
		name, err := s.stateName(r)
		if err == nil {
			err = s.service.Permit(c.Request.Context(), r.caller, right, name)
		}
		if err != nil {
			middleware.Fail(c, err)
		}
	}
}

func (s states) put(ctx context.Context, r *request, name state.Name) (answer, error) {
	write := state.Write{
		Body: r.body(), LockID: r.lockID(), Release: r.said("unlock"), If: r.condition(),
		RestorePurged: r.said("restore_purged"),
		NewSerial:     s.spelling.serials,
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	version, err := s.service.Put(ctx, r.caller, name, write)
	if err != nil {
		return nil, err
	}
	return accepted{version, s.quota, r.caller.Org, s.spelling.stored}, nil
}

// accepted is the answer to a write.
type accepted struct {
	version state.Version
	quota   *quota.Keeper
	org     uuid.UUID
	status  int
}

func (a accepted) send(c *gin.Context) error {
	header := c.Writer.Header()
	setVersion(header, a.version)
	if a.version.Warnings != 0 {
		header.Set("X-Holdfast-Warning", a.version.Warnings.String())
	}
	warnQuota(header, a.quota, a.org)
	return told{status: a.status,
		body: api.Stored{Status: success, Version: a.version.Number, Serial: a.version.Serial}}.send(c)
}

func (s states) delete(ctx context.Context, r *request, name state.Name) (answer, error) {
	lockID, only := r.lockID(), r.condition()
	r.said("unlock")
	if err := r.err(); err != nil {
		return nil, err
	}
	err := s.service.DeleteIf(ctx, r.caller, name, lockID, only)
	if fault.Is(err, fault.StateNotFound) && s.spelling.removed != http.StatusNotFound {
		err = nil // some spellings are content that it is gone
	}
	return done(), err
}

// absentOr answers for a state that is not there, and hands anything else back.
func (s states) absentOr(said answer, err error) (answer, error) {
	if fault.Is(err, fault.StateNotFound) && s.spelling.absent != http.StatusNotFound {
		return nothing{s.spelling.absent}, nil
	}
	return said, err
}

func etag(v state.Version) string {
	var text [2*len(v.Digest) + 2]byte
	hex.Encode(text[1:], v.Digest[:])
	text[0], text[len(text)-1] = '"', '"'
	return string(text[:])
}

// packedTag is the tag of the same bytes in gzip: a strong one is that of the bytes that are
// sent (RFC 9110, 8.8.3).
func packedTag(tag string) string { return strings.TrimSuffix(tag, `"`) + packedSuffix + `"` }

// packedSuffix tells the two tags of a state's bytes apart.
const packedSuffix = "-gzip"

// matches implements If-None-Match for a GET (RFC 9110, 13.1.2): a weak comparison with
// each tag of the list. It returns which of the tags the reader has; empty for none.
func matches(header string, tags ...string) string {
	if header == "" {
		return ""
	}
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == "*" {
			return tags[0]
		}
		if slices.Contains(tags, candidate) {
			return candidate
		}
	}
	return ""
}

func setVersion(header http.Header, v state.Version) {
	setNumbers(header, v)
	if v.Number > 0 {
		header.Set("ETag", etag(v))
	}
}

// numbers is for answers about a version.
func numbers(v state.Version) func(http.Header) {
	return func(header http.Header) { setNumbers(header, v) }
}

func setNumbers(header http.Header, v state.Version) {
	values := [...]string{strconv.FormatUint(v.Number, 10), strconv.FormatUint(v.Serial, 10)}
	header["X-Holdfast-Version"] = values[0:1:1]
	header["X-Holdfast-Serial"] = values[1:2:2]
}
