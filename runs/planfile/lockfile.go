package planfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
)

const lockFileName = ".terraform.lock.hcl"

// maxLockFile bounds a lock file; a provider has a few kilobytes in it.
const maxLockFile = 16 << 20

// LockFileDigest is the SHA-256 of what a lock file says: its lines without comments, empty lines
// and the white space that aligns them. The tools write a file of their own into the plan, which
// may differ from the one that they read in just these. A missing lock file, an empty one, and one
// that names no provider have the same digest, NoLockFile.
func LockFileDigest(content []byte) Digest {
	hash := sha256.New()
	for line := range bytes.Lines(content) {
		fields := bytes.Fields(line)
		if len(fields) == 0 || fields[0][0] == '#' || bytes.HasPrefix(fields[0], []byte("//")) {
			continue
		}
		hash.Write(bytes.Join(fields, []byte(" ")))
		hash.Write([]byte("\n"))
	}
	return Digest(hash.Sum(nil))
}

// NoLockFile is the digest of a lock file that is not there.
func NoLockFile() Digest { return LockFileDigest(nil) }

func (f *Facts) readLockFile(r io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(r, maxLockFile+1))
	if err != nil {
		return err
	}
	if len(content) > maxLockFile {
		return tooLarge("the lock file in the plan file has more than %d bytes", maxLockFile)
	}
	f.LockFile, f.Tool = LockFileDigest(content), toolOf(content)
	return nil
}

// toolOf goes by the comment that the tools begin a lock file with.
func toolOf(content []byte) string {
	head, err := bufio.NewReader(bytes.NewReader(content)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	switch {
	case !strings.HasPrefix(head, "#"):
		return ""
	case strings.Contains(head, `"tofu init"`):
		return "opentofu"
	case strings.Contains(head, `"terraform init"`):
		return "terraform"
	}
	return ""
}
