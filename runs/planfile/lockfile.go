package planfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
)

const lockFileName = ".terraform.lock.hcl"

// maxLockFile bounds a lock file; a provider has a few kilobytes in it.
const maxLockFile = 16 << 20

// LockFileDigest is the SHA-256 of what a lock file says: its words without comments, white space
// and the order within lists. The tools write a file of their own into the plan, which may differ
// from the one that they read in just these. A missing lock file, an empty one, and one that names
// no provider have the same digest, NoLockFile.
func LockFileDigest(content []byte) Digest {
	hash := sha256.New()
	var list []string // the elements of the list at hand; nil outside of one
	for word := range words(content) {
		switch {
		case word == "[" && list == nil:
			list = []string{}
		case word == "]" && list != nil:
			slices.Sort(list)
			writeText(hash, "["+strings.Join(list, "")+"]")
			list = nil
		case list != nil && word != ",":
			list = append(list, word)
		case list == nil:
			writeText(hash, word)
		}
	}
	for _, rest := range list {
		writeText(hash, rest)
	}
	return Digest(hash.Sum(nil))
}

// words gives the words of a lock file: strings with their quotes, brackets and signs by
// themselves, and what stands between white space.
func words(content []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(content) {
			for len(line) > 0 {
				word := firstWord(line)
				line = line[len(word):]
				switch {
				case bytes.HasPrefix(word, []byte("#")) || bytes.HasPrefix(word, []byte("//")):
					line = nil
				case len(bytes.TrimSpace(word)) > 0 && !yield(string(word)):
					return
				}
			}
		}
	}
}

// firstWord is at least one byte of a line that has one.
func firstWord(line []byte) []byte {
	if line[0] == '"' {
		for i := 1; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '"':
				return line[:i+1]
			}
		}
		return line
	}
	const alone = "[]{}=, \t\r\n"
	if strings.IndexByte(alone, line[0]) >= 0 {
		return line[:1]
	}
	if end := bytes.IndexAny(line, alone+`"`); end > 0 {
		return line[:end]
	}
	return line
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
	case strings.Contains(head, `"holdfast engine init"`):
		return "engine"
	}
	return ""
}
