package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// ageBegins is how an encrypted archive begins.
const ageBegins = "age-encryption.org/"

// maxManifest bounds what of an archive is in memory.
const maxManifest = 64 << 20

// ErrDamaged is what an archive is refused with that is not as it was written.
var ErrDamaged = errors.New("the archive is damaged, was cut off or was changed")

// keep gets the content of an archive's parts.
type keep func(file string, at int64, whole bool, size int64, content io.Reader) error

// read reads an archive to its end, which is the only proof that it has one.
func read(from io.Reader, who []age.Identity, keep func(Begin) (keep, error)) (m Manifest, err error) {
	opened, err := decrypted(from, who)
	if err != nil {
		return m, err
	}
	unpacked, err := zstd.NewReader(opened, zstd.WithDecoderMaxWindow(windowSize), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return m, err
	}
	defer unpacked.Close()
	parts := tar.NewReader(unpacked)
	if err := jsonPart(parts, beginName, &m.Begin); err != nil {
		return m, err
	}
	if m.Format != format {
		return m, fmt.Errorf("the archive has the format %d, and this program reads %d", m.Format, format)
	}
	begun := m.Begin
	put, err := keep(begun)
	if err != nil {
		return m, err
	}
	for {
		head, err := next(parts)
		if err != nil {
			return m, err
		}
		if head.Name == manifestName {
			if err := decodePart(parts, head, &m); err != nil {
				return m, err
			}
			break
		}
		file, at, whole, err := placeOf(head.Name)
		if err != nil {
			return m, err
		}
		if err := put(file, at, whole, head.Size, parts); err != nil {
			return m, err
		}
	}
	if m.Begin != begun {
		return m, fmt.Errorf("%w: its end is of another one", ErrDamaged)
	}
	for _, f := range m.Files {
		if !isFileName(f.Name) || f.Size < 0 {
			return m, fmt.Errorf("the archive's manifest has a file %.80q, which no backup has", f.Name)
		}
	}
	return m, ended(parts, unpacked)
}

func decrypted(from io.Reader, who []age.Identity) (io.Reader, error) {
	first := make([]byte, len(ageBegins))
	n, err := io.ReadFull(from, first)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	from = io.MultiReader(bytes.NewReader(first[:n]), from)
	switch encrypted := string(first[:n]) == ageBegins; {
	case encrypted && len(who) == 0:
		return nil, errors.New("the archive is encrypted; name the file of the age identity with --identity")
	case !encrypted && len(who) > 0:
		return nil, errors.New("the archive is not encrypted, so it is not one that only who has the identity was to read; " +
			"if you know where it is from, leave --identity out")
	case !encrypted:
		return from, nil
	}
	opened, err := age.Decrypt(from, who...)
	if err != nil {
		return nil, fmt.Errorf("the archive can't be decrypted: %w", err)
	}
	return opened, nil
}

// next is the next part, which is a plain file with all its bytes in the archive.
func next(parts *tar.Reader) (*tar.Header, error) {
	head, err := parts.Next()
	if err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	if head.Typeflag != tar.TypeReg || head.Size < 0 {
		return nil, fmt.Errorf("the archive has %.80q, which is no plain file", head.Name)
	}
	for name := range head.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse") {
			return nil, fmt.Errorf("the archive has %.80q, of which not all is in it", head.Name)
		}
	}
	return head, nil
}

func jsonPart(parts *tar.Reader, name string, into any) error {
	head, err := next(parts)
	if err != nil {
		return err
	}
	if head.Name != name {
		return fmt.Errorf("this is no backup: it begins with %.80q", head.Name)
	}
	return decodePart(parts, head, into)
}

func decodePart(parts *tar.Reader, head *tar.Header, into any) error {
	if head.Size > maxManifest {
		return fmt.Errorf("the archive's %s has %d bytes, which no backup has", head.Name, head.Size)
	}
	text, err := io.ReadAll(parts)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if m, is := into.(*Manifest); is {
		m.sum = manifestSum(text)
	}
	return nil
}

// manifestSum is the digest that an index has of a manifest.
func manifestSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ended reads what is behind the last part: nothing but the ends of the layers, which tell truncation.
func ended(parts *tar.Reader, unpacked io.Reader) error {
	if _, err := parts.Next(); err != io.EOF {
		return fmt.Errorf("%w: something follows its end", ErrDamaged)
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(unpacked, maxManifest)); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	return nil
}
