package planfile

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// isEncrypted reports whether the file is what OpenTofu's plan encryption writes: a JSON object
// with the encrypted archive as text. Nothing of it is understood without the key.
func isEncrypted(r io.ReaderAt, size int64) (bool, error) {
	var first [1]byte
	if _, err := r.ReadAt(first[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if first[0] != '{' {
		return false, nil
	}
	seen := map[string]bool{}
	content := &faultReader{r: io.NewSectionReader(r, 0, size), name: "it"}
	decoder := jsontext.NewDecoder(content)
	err := eachMember(decoder, func(name string) error {
		switch name {
		case "encrypted_data", "encryption_version":
			seen[name] = decoder.PeekKind() == '"'
		}
		return decoder.SkipValue()
	})
	if err == nil {
		if _, err = decoder.ReadToken(); err == io.EOF && seen["encrypted_data"] && seen["encryption_version"] {
			return true, nil
		}
	}
	return false, content.first(invalid("the file is no plan file, and no encrypted one"))
}
