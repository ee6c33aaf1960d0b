package mask

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a JSON value that people made, such as that of an output, with the secrets in its texts and names
// masked. A number in which a secret is becomes a text. The result is JSON whatever the secrets are; what is no JSON
// is an error.
func (m *Masker) JSON(value []byte) ([]byte, error) { return m.json(value, true) }

// Texts is JSON for what a program made: it masks texts alone, so that names and types of members stay.
func (m *Masker) Texts(value []byte) ([]byte, error) { return m.json(value, false) }

func (m *Masker) json(value []byte, all bool) ([]byte, error) {
	var out bytes.Buffer
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	from, to := jsontext.NewDecoder(bytes.NewReader(value), options...), jsontext.NewEncoder(&out, options...)
	for begun := false; !begun || from.StackDepth() > 0; begun = true {
		token, err := from.ReadToken()
		if err != nil {
			return nil, err
		}
		kind, n := from.StackIndex(from.StackDepth())
		isName := kind == '{' && n%2 == 1
		switch token.Kind() {
		case '"':
			if all || !isName {
				token = jsontext.String(string(m.Bytes([]byte(token.String()))))
			}
		case '0':
			if all && m.Finds([]byte(token.String())) {
				token = jsontext.String(stars)
			}
		}
		if err := to.WriteToken(token); err != nil {
			return nil, err
		}
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
