package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// Download brings a version of OpenTofu or Terraform from its mirror into the store, unless it
// is there. The mirror's list of checksums must be signed by a trusted key and have the
// archive's. Whoever asks for the same while it is being downloaded waits for that.
func (s *Store) Download(ctx context.Context, name Name, text string) (tool Tool, err error) {
	v, err := parseVersion(text)
	if err != nil {
		return Tool{}, err
	}
	mirror, err := s.mirror(name)
	if err != nil {
		return Tool{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, downloadPatience)
	defer cancel()
	err = s.locked(ctx, name, v, func(staging string) error {
		var there bool
		if tool, there, err = s.present(ctx, name, v); there || err != nil {
			return err
		}
		made, err := s.stageRelease(ctx, staging, name, v, mirror)
		if err != nil {
			return err
		}
		tool, err = s.install(ctx, name, v, staging, made)
		return err
	})
	return tool, err
}

// stageRelease downloads, verifies and unpacks one release into the staging folder.
func (s *Store) stageRelease(ctx context.Context, staging string, name Name, v *version.Version,
	mirror Mirror) (Tool, error) {
	keys, err := readKeys(mirror.KeyFile)
	if err != nil {
		return Tool{}, err
	}
	of := releaseOf(name, v)
	address := func(file string) string {
		return strings.TrimSuffix(mirror.Address, "/") + "/" + url.PathEscape(of.folder) + "/" + url.PathEscape(file)
	}
	sums, err := s.fetchAll(ctx, address(of.sums), maxSums)
	if err != nil {
		return Tool{}, err
	}
	signature, err := s.fetchAll(ctx, address(of.signature), maxSignature)
	if err != nil {
		return Tool{}, err
	}
	if err := verifySignature(keys, sums, signature, s.settings.Now()); err != nil {
		return Tool{}, err
	}
	want, err := sumOf(sums, of.archive)
	if err != nil {
		return Tool{}, err
	}
	archive := filepath.Join(staging, "archive.zip")
	if err := s.fetchArchive(ctx, address(of.archive), archive, want); err != nil {
		return Tool{}, err
	}
	made, err := stageArchive(ctx, staging, name, archive)
	made.Source, made.Origin = FromDownload, address(of.archive)
	return made, err
}

// sumOf finds a file's SHA-256 in a list as sha256sum writes it.
func sumOf(sums []byte, file string) (found string, err error) {
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.TrimPrefix(strings.TrimSpace(name), "*") != file {
			continue
		}
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || found != "" && found != sum {
			return "", fault.New(fault.ToolUntrusted, "the signed list of checksums has no single SHA-256 for %s", file)
		}
		found = sum
	}
	if found == "" {
		return "", fault.New(fault.ToolUntrusted, "the signed list of checksums has no line for %s", file)
	}
	return found, nil
}

// fetchArchive downloads to a file that must have this SHA-256.
func (s *Store) fetchArchive(ctx context.Context, address, path, want string) error {
	return s.fetch(ctx, address, maxArchive, func(r io.Reader) (err error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		hash := sha256.New()
		if _, err := io.Copy(io.MultiWriter(f, hash), r); err != nil {
			return err
		}
		if got := hex.EncodeToString(hash.Sum(nil)); !strings.EqualFold(got, want) {
			return fault.New(fault.ToolUntrusted, "%s has the SHA-256 %s, and the signed list says %s", address, got, want)
		}
		return nil
	})
}
