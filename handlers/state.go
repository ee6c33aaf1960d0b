package handlers

import (
	"encoding/hex"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

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
	// name reads the state's name from the path.
	name func(*gin.Context) (state.Name, error)
	// absent is the status where there is no state: 404, or 204 in some spellings.
	absent int
}

func nativeName(c *gin.Context) (state.Name, error) { return state.ParseName(pathValue(c, "name")) }

func partitionName(c *gin.Context) (state.Name, error) {
	enclave, err := state.ParseSegment(pathValue(c, "enclave"))
	if err != nil {
		return "", err
	}
	partition, err := state.ParseSegment(pathValue(c, "partition"))
	if err != nil {
		return "", err
	}
	return state.ParseName(string(enclave + "/" + partition))
}

// named runs serve with the state's name, which then stands in the log too.
func (s states) named(c *gin.Context, serve func(state.Name) error) {
	name, err := s.name(c)
	if err == nil {
		middleware.Annotate(c, slog.String("state", string(name)))
		err = serve(name)
	}
	if err != nil {
		middleware.Fail(c, err)
	}
}

// get sends the newest version, or what the query selects of it. An unknown version is not
// 404, which clients take for an absent state.
func (s states) get(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		ask, err := readSelection(c)
		if err != nil {
			return err
		}
		if ask.view == "" {
			err = s.getVersion(c, name, ask.number)
		} else {
			err = s.getView(c, name, ask)
		}
		if fault.Is(err, fault.VersionNotFound) {
			return fault.Wrap(err, fault.ParameterInvalid, "the state has no version %d", ask.number)
		}
		return s.absentOr(c, err)
	})
}

func (s states) getVersion(c *gin.Context, name state.Name, number uint64) error {
	loaded, err := s.service.Version(c.Request.Context(), middleware.Principal(c), name, number)
	if err != nil {
		return err
	}
	defer loaded.Release()
	s.send(c, name, &loaded)
	return nil
}

// getView sends a part of a state. It has no ETag: the digest is that of the whole, of
// which the reader may know nothing.
func (s states) getView(c *gin.Context, name state.Name, ask selection) error {
	view, err := s.service.View(c.Request.Context(), middleware.Principal(c), name, ask.view, ask.number)
	if err != nil {
		return err
	}
	setNumbers(c, view.Version)
	return sendRendered(c, "application/json", view)
}

// send answers with a version's exact bytes, unless the reader has them.
func (s states) send(c *gin.Context, name state.Name, loaded *state.Loaded) {
	tag := etag(loaded.Version)
	setNumbers(c, loaded.Version)
	header, values := c.Writer.Header(), [...]string{tag, "Accept-Encoding"}
	header["Etag"] = values[0:1:1]
	header["Vary"] = values[1:2:2]
	if had := matches(c.GetHeader("If-None-Match"), tag, packedTag(tag)); had != "" {
		header["Etag"] = []string{had}
		c.Status(http.StatusNotModified)
		return
	}
	if acceptsGzip(c.GetHeader("Accept-Encoding")) && s.service.Pack(middleware.Principal(c), name, loaded) {
		header["Etag"] = []string{packedTag(tag)}
		header["Content-Encoding"] = []string{"gzip"}
	}
	sendBody(c, "application/json", loaded.Body)
}

// sendBody says how long the body is: else net/http sends it in chunks, which takes both
// sides longer.
func sendBody(c *gin.Context, media string, body []byte) {
	header := c.Writer.Header()
	values := [...]string{media, strconv.Itoa(len(body))}
	header["Content-Type"] = values[0:1:1]
	header["Content-Length"] = values[1:2:2]
	c.Status(http.StatusOK)
	if _, err := c.Writer.Write(body); err != nil {
		_ = c.Error(err) // for the request's log line
	}
}

// writable refuses who may not write before the body is read: a large one takes up room
// that others need.
func (s states) writable(c *gin.Context) {
	name, err := s.name(c)
	if err == nil {
		err = s.service.Permit(c.Request.Context(), middleware.Principal(c), auth.WriteState, name)
	}
	if err != nil {
		middleware.Fail(c, err)
	}
}

func (s states) put(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		query, err := readQuery(c)
		if err != nil {
			return err
		}
		only, err := readCondition(c.Request.Header)
		if err != nil {
			return err
		}
		version, err := s.service.Put(c.Request.Context(), middleware.Principal(c), name, state.Write{
			Body: middleware.Body(c), LockID: query.lockID, Release: query.unlock, If: only, RestorePurged: query.restorePurged,
		})
		if err != nil {
			return err
		}
		setVersionHeaders(c, version)
		if version.Warnings != 0 {
			c.Header("X-Holdfast-Warning", version.Warnings.String())
		}
		warnQuota(c, s.quota)
		c.JSON(http.StatusOK, api.Stored{Status: success, Version: version.Number, Serial: version.Serial})
		return nil
	})
}

func (s states) delete(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		query, err := readQuery(c)
		if err != nil {
			return err
		}
		only, err := readCondition(c.Request.Header)
		if err != nil {
			return err
		}
		err = s.service.DeleteIf(c.Request.Context(), middleware.Principal(c), name, query.lockID, only)
		if fault.Is(err, fault.StateNotFound) && s.absent == http.StatusNoContent {
			err = nil // spellings without 404 are content that it is gone
		}
		if err == nil {
			c.JSON(http.StatusOK, api.Done{Status: success})
		}
		return err
	})
}

// absentOr answers for a state that is not there, and hands any other error back.
func (s states) absentOr(c *gin.Context, err error) error {
	if fault.Is(err, fault.StateNotFound) && s.absent != http.StatusNotFound {
		c.Status(s.absent)
		return nil
	}
	return err
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

func setVersionHeaders(c *gin.Context, v state.Version) {
	setNumbers(c, v)
	if v.Number > 0 {
		c.Header("ETag", etag(v))
	}
}

func setNumbers(c *gin.Context, v state.Version) {
	values := [...]string{strconv.FormatUint(v.Number, 10), strconv.FormatUint(v.Serial, 10)}
	header := c.Writer.Header()
	header["X-Holdfast-Version"] = values[0:1:1]
	header["X-Holdfast-Serial"] = values[1:2:2]
}
