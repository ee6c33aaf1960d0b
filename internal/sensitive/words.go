package sensitive

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	// A plain word has at most so many bytes, and each of its parts so many letters.
	longestWord = 16
	longestPart = 12
	// A value of more letters than these may be a generated one, so that more is asked of it.
	shortLetters = 8
	// maxRead is how much of a configuration is looked through for words: what stands only behind that stays masked.
	maxRead = 64 << 20
)

// WordsIn returns those of the sensitive values that are plain words, such as "eu-west-1" or "admin", and that stand as
// whole words in the configuration, a tar archive that write writes. Masking them would hide nothing that can't be read
// there, and leave logs that nobody can read. A value that looks generated is never among them, even if it stands in
// the configuration by mistake. The archive is written only where there are plain words.
func WordsIn(values []string, write func(io.Writer) error) (found []string, err error) {
	left := map[string]bool{}
	for _, value := range values {
		if isPlainWord(value) {
			left[value] = true
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	from, to := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		to.CloseWithError(write(to))
	}()
	defer func() {
		_ = from.Close() // which ends the writing
		<-written
	}()
	archive := &io.LimitedReader{R: from, N: maxRead}
	files := tar.NewReader(archive)
	for len(left) > 0 {
		file, err := files.Next()
		if errors.Is(err, io.EOF) || archive.N <= 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if file.Typeflag != tar.TypeReg || !isConfiguration(file.Name) {
			continue
		}
		err = eachWord(files, func(word string) {
			if left[word] {
				found = append(found, word)
				delete(left, word)
			}
		})
		if err != nil && archive.N > 0 {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}

// Without returns the values but for those words.
func Without(values, words []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(words, value) })
}

// isConfiguration reports whether people write a file of this name for the tools.
func isConfiguration(name string) bool {
	name = strings.TrimSuffix(name, ".json")
	return slices.Contains([]string{".tf", ".tofu", ".tfvars", ".hcl"}, path.Ext(name))
}

// eachWord calls found with each word of at most longestWord bytes. What a word may be of is around it, too: no part of
// a longer one is a word.
func eachWord(r io.Reader, found func(string)) error {
	text := bufio.NewReaderSize(r, 32<<10)
	var word []byte
	for {
		b, err := text.ReadByte()
		switch {
		case err == nil && (isLetter(b) || '0' <= b && b <= '9' || b == '-' || b == '_' || b >= 0x80):
			if len(word) <= longestWord {
				word = append(word, b)
			}
			continue
		case len(word) > 0 && len(word) <= longestWord:
			found(string(word))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		word = word[:0]
	}
}

// isPlainWord reports whether a value is words as people write them, joined by - or _, such as "eu-west-1". Generated
// values have digits among letters, mixed cases, or letters in an order that nobody can speak.
func isPlainWord(value string) bool {
	if len(value) > longestWord {
		return false
	}
	letters, vowels, rare := 0, 0, 0
	for i, part := range strings.FieldsFunc(value, func(r rune) bool { return r == '-' || r == '_' }) {
		name := strings.TrimRight(part, "0123456789")
		// The first part has no digits: in "europe-west1" they count, in "hunter2" they make it a password.
		if digits := len(part) - len(name); digits > 0 && (i == 0 || digits > 3 || name != "" && digits > 2) {
			return false
		}
		if !isSpoken(name) {
			return false
		}
		letters += len(name)
		vowels += countAny(name, "aeiouyAEIOUY")
		rare += countAny(name, "jqxzJQXZ")
	}
	if letters > shortLetters {
		return vowels*10 >= letters*3 && rare == 0
	}
	return letters > 0 && vowels*4 >= letters && rare <= 1
}

// isSpoken reports whether a text is letters of one case, or with a large one at its beginning, of which at most four
// consonants follow each other.
func isSpoken(name string) bool {
	if name == "" {
		return true
	}
	rest := name[1:]
	if len(name) > longestPart || rest != strings.ToLower(rest) && name != strings.ToUpper(name) {
		return false
	}
	consonants := 0
	for i := range len(name) {
		if !isLetter(name[i]) {
			return false
		}
		consonants++
		if strings.IndexByte("aeiouyAEIOUY", name[i]) >= 0 {
			consonants = 0
		}
		if consonants > 4 {
			return false
		}
	}
	return true
}

func countAny(text, letters string) (n int) {
	for i := range len(text) {
		if strings.IndexByte(letters, text[i]) >= 0 {
			n++
		}
	}
	return n
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
