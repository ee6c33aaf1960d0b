package elsewhere

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"time"
)

// The parts of an export that say what the others are.
const (
	ExportManifest  = "manifest.json"
	ExportSignature = "manifest.json.sig" // Ed25519, 64 bytes
	ExportKey       = "signing-key.pem"   // the public key
)

// ExportFormat is that of exports, which a newer one counts on.
const ExportFormat = 1

// Manifest says what an export of an organization has.
type Manifest struct {
	Format       int            `json:"format"`
	Organization Organization   `json:"organization"`
	At           time.Time      `json:"at"` // when the export was begun
	Files        []ExportedFile `json:"files"`
	// Removed are what went on the server while the export was made, and so is not in it.
	Removed []RemovedFile `json:"removed,omitempty"`
}

// RemovedFile is what would have been a file, or a folder of them.
type RemovedFile struct {
	Path    string `json:"path"`
	State   string `json:"state,omitempty"`
	Version uint64 `json:"version,omitempty"`
}

// Organization is whose export it is.
type Organization struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ExportedFile is a file of an export. Versions of states have what they are of, under the true name.
type ExportedFile struct {
	Path    string     `json:"path"`
	Size    int64      `json:"size"`
	SHA256  string     `json:"sha256"`
	State   string     `json:"state,omitempty"`
	Version uint64     `json:"version,omitempty"`
	At      *time.Time `json:"at,omitempty"`
	Deleted bool       `json:"deleted,omitempty"` // the state, there
}

// maxExportManifest bounds what is read before anything is known.
const maxExportManifest = 256 << 20

// Export has the states of an export that `holdfast export` wrote. Make it with OpenExport.
type Export struct {
	file     *zip.ReadCloser
	parts    map[string]*zip.File
	name     string
	manifest Manifest
	signer   string
	versions map[string][]ExportedFile // by state, the oldest first
}

// OpenExport opens an export and checks its signature. signer, unless it is empty, is the fingerprint of
// the key that it has to be signed with. The caller closes it.
func OpenExport(path, signer string) (_ *Export, err error) {
	file, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no export: %w", filepath.Base(path), err)
	}
	e := &Export{file: file, name: filepath.Base(path), versions: map[string][]ExportedFile{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", e.name, err), file.Close())
		}
	}()
	e.parts = map[string]*zip.File{}
	for _, part := range file.File {
		if _, twice := e.parts[part.Name]; twice { // other programs would show the other one
			return nil, fmt.Errorf("it has %.80q twice", part.Name)
		}
		e.parts[part.Name] = part
	}
	text, err := e.verified()
	if err != nil {
		return nil, err
	}
	if signer != "" && signer != e.signer {
		return nil, fmt.Errorf("it is signed by %s, and not by %s", e.signer, signer)
	}
	if err := json.Unmarshal(text, &e.manifest); err != nil {
		return nil, fmt.Errorf("its %s: %w", ExportManifest, err)
	}
	if e.manifest.Format != ExportFormat {
		return nil, fmt.Errorf("it has the format %d, and this program reads %d", e.manifest.Format, ExportFormat)
	}
	for _, f := range e.manifest.Files {
		if f.State != "" && f.Version > 0 {
			e.versions[f.State] = append(e.versions[f.State], f)
		}
	}
	for state, all := range e.versions {
		slices.SortFunc(all, func(a, b ExportedFile) int { return cmp.Compare(a.Version, b.Version) })
		for i := 1; i < len(all); i++ {
			if all[i].Version == all[i-1].Version {
				return nil, fmt.Errorf("it has version %d of %s twice", all[i].Version, state)
			}
		}
	}
	return e, nil
}

// verified returns the manifest's text, which the key in the export has signed.
func (e *Export) verified() ([]byte, error) {
	text, err := e.read(ExportManifest, maxExportManifest)
	if err != nil {
		return nil, err
	}
	signature, err := e.read(ExportSignature, 1<<10)
	if err != nil {
		return nil, err
	}
	written, err := e.read(ExportKey, 1<<12)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(written)
	if block == nil {
		return nil, fmt.Errorf("its %s is no key", ExportKey)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	public, ok := key.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("its %s is no Ed25519 key", ExportKey)
	}
	if !ed25519.Verify(public, text, signature) {
		return nil, errors.New("its manifest is not what was signed; nothing was done")
	}
	e.signer = Fingerprint(public)
	return text, nil
}

// Fingerprint is what a signing key is called.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

// Signer is the fingerprint of the key that signed it.
func (e *Export) Signer() string { return e.signer }

// Manifest says what it has.
func (e *Export) Manifest() Manifest { return e.manifest }

// Close ends the use of the file.
func (e *Export) Close() error { return e.file.Close() }

// About implements Source.
func (e *Export) About() string {
	return fmt.Sprintf("the export of %s of %s", e.manifest.Organization.Name, e.manifest.At.UTC().Format(time.RFC3339))
}

// List implements Source. States that were deleted there are left out, and brought by their names.
func (e *Export) List(context.Context) ([]string, error) {
	var names []string
	for name, all := range e.versions {
		if !all[0].Deleted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Versions implements Source.
func (e *Export) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	all, ok := e.versions[name]
	if !ok {
		return failed(ErrNone)
	}
	return func(yield func(Version, error) bool) {
		for _, f := range all {
			err := ctx.Err()
			v := Version{Label: fmt.Sprintf("version %d", f.Version)}
			if f.At != nil {
				v.At = *f.At
			}
			if err == nil {
				v.Body, err = e.Content(f)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Content reads a file, which has to be what the manifest says.
func (e *Export) Content(f ExportedFile) ([]byte, error) {
	if f.Size < 0 || f.Size > MaxState {
		return nil, fmt.Errorf("%s has %d bytes, which is too much", f.Path, f.Size)
	}
	body, err := e.read(f.Path, f.Size)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	if int64(len(body)) != f.Size || hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, fmt.Errorf("%s is not what the manifest says: the export is damaged or was changed", f.Path)
	}
	return body, nil
}

// read reads a part of the archive, which is looked up by its name and never written by it. What is longer
// than it may be is not unpacked to its end.
func (e *Export) read(path string, most int64) (body []byte, err error) {
	part, ok := e.parts[path]
	if !ok {
		return nil, fmt.Errorf("%s is missing", path)
	}
	from, err := part.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	body, err = io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(body)) > most {
		err = errors.New("it is longer than it says")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return body, nil
}
