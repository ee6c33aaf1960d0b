package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
	reading "github.com/holdfast/holdfast/internal/digest"
)

// Mirror is where the releases of one tool are downloaded from, and whose they must be.
type Mirror struct {
	// Address is what the releases' folders are below: VERSION/terraform_VERSION_OS_ARCH.zip as
	// at https://releases.hashicorp.com/terraform, vVERSION/tofu_VERSION_OS_ARCH.zip as at
	// https://github.com/opentofu/opentofu/releases/download.
	Address string
	// Index lists the versions, as https://releases.hashicorp.com/terraform/index.json or
	// https://get.opentofu.org/tofu/api.json does.
	Index string
	// KeyFile has the OpenPGP public keys, armored or not, of which one must have signed the
	// checksums.
	KeyFile string
}

// release has the names of what is downloaded of one version.
type release struct {
	folder, sums, signature, archive string
}

// releaseOf names the files as the tools' makers do. See "Verify the file integrity" in
// https://opentofu.org/docs/intro/install/standalone, the specification of mirrors in
// https://github.com/opentofu/tofudl, and https://www.hashicorp.com/trust/security.
func releaseOf(name Name, v *version.Version) release {
	switch name {
	case OpenTofu:
		sums := fmt.Sprintf("tofu_%s_SHA256SUMS", v)
		return release{"v" + v.String(), sums, sums + ".gpgsig", fmt.Sprintf("tofu_%s_%s.zip", v, platform())}
	default:
		sums := fmt.Sprintf("terraform_%s_SHA256SUMS", v)
		return release{v.String(), sums, sums + ".sig", fmt.Sprintf("terraform_%s_%s.zip", v, platform())}
	}
}

// mirror returns where a tool comes from; a fault where nothing may be downloaded.
func (s *Store) mirror(name Name) (Mirror, error) {
	if !s.settings.AllowDownload {
		return Mirror{}, fault.New(fault.ToolUnavailable, "tools are not downloaded here: [tools] allow_download is off")
	}
	switch name {
	case OpenTofu:
		return s.settings.OpenTofu, nil
	case Terraform:
		return s.settings.Terraform, nil
	}
	return Mirror{}, fault.New(fault.ToolUnavailable, "%s is not downloaded: add its binary from a file, or from a PATH",
		name)
}

const (
	maxIndex     = 64 << 20
	maxSums      = 1 << 20
	maxSignature = 64 << 10
	maxArchive   = 512 << 20
	// downloadPatience is how long all of a download may take.
	downloadPatience = 15 * time.Minute
)

func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 30 * time.Second
	transport.TLSHandshakeTimeout = 10 * time.Second
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

// checkRedirect follows a few redirects, and none from an encrypted address to a plain one.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("more than 5 redirects")
	}
	if last := via[len(via)-1]; last.URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("a redirect from https to http")
	}
	return nil
}

// fetch hands an answer's body to read, bounded: one byte too many ends it with an error.
func (s *Store) fetch(ctx context.Context, address string, limit int64, read func(io.Reader) error) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fault.Wrap(err, fault.ToolMirrorUnavailable, "the mirror's address can't be used")
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return unreachable(ctx, address, err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return fault.New(fault.ToolUnavailable, "the mirror has no %s", address)
	case answer.StatusCode != http.StatusOK:
		return fault.New(fault.ToolMirrorUnavailable, "the mirror answers %s for %s", answer.Status, address)
	}
	body := reading.NewBounded(answer.Body, limit, func() error {
		return fault.New(fault.ToolUntrusted, "%s is larger than it may be", address)
	})
	if err := read(body); err != nil {
		if body.Failed != nil { // it is the download that failed, and not, say, a full disk
			return unreachable(ctx, address, body.Failed)
		}
		return err
	}
	return nil
}

func unreachable(ctx context.Context, address string, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(err, fault.ToolMirrorUnavailable, "%s can't be downloaded", address)
}

// fetchAll returns a small file.
func (s *Store) fetchAll(ctx context.Context, address string, limit int64) (data []byte, err error) {
	err = s.fetch(ctx, address, limit, func(r io.Reader) error {
		data, err = io.ReadAll(r)
		return err
	})
	return data, err
}

// Available returns the versions of a tool that its mirror offers, newest first.
func (s *Store) Available(ctx context.Context, name Name) ([]*version.Version, error) {
	mirror, err := s.mirror(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, downloadPatience)
	defer cancel()
	data, err := s.fetchAll(ctx, mirror.Index, maxIndex)
	if err != nil {
		return nil, err
	}
	texts, err := versionsInIndex(data)
	if err != nil {
		return nil, fault.Wrap(err, fault.ToolMirrorUnavailable, "%s is no list of versions", mirror.Index)
	}
	var all []*version.Version
	for _, text := range texts {
		if v, err := parseVersion(text); err == nil {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b *version.Version) int { return b.Compare(a) })
	return all, nil
}

// versionsInIndex reads HashiCorp's form, an object by version, and OpenTofu's, a list.
func versionsInIndex(data []byte) (texts []string, err error) {
	var index struct {
		Versions json.RawMessage `json:"versions"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(index.Versions), "{") {
		var byVersion map[string]struct{}
		err := json.Unmarshal(index.Versions, &byVersion)
		for text := range byVersion {
			texts = append(texts, text)
		}
		return texts, err
	}
	var list []struct {
		ID string `json:"id"`
	}
	err = json.Unmarshal(index.Versions, &list)
	for _, one := range list {
		texts = append(texts, one.ID)
	}
	return texts, err
}
