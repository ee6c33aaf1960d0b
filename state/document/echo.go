package document

import (
	"bytes"

	"github.com/holdfast/holdfast/jsonscan"
)

// minEcho is how long a sensitive string must be, with its quotes, to be looked for
// elsewhere: shorter ones are found by chance.
const minEcho = len(`"four"`)

// hideEchoes hides the strings in the attributes that are equal to one that is hidden
// already. Clients mark what the configuration calls sensitive, but not the attribute in
// which the provider hands the same value back, as terraform_data does in output.
//
// Strings are compared as they are written: in one state all are by the same writer.
func (m *mask) hideEchoes(attributes []byte) {
	secrets := map[string]bool{}
	spans := m.spans(attributes, 0, nil)
	for _, s := range spans {
		collectTexts(attributes[s.start:s.end], 0, secrets)
	}
	if len(secrets) > maxCounted || hasMore(attributes, spans, secrets) {
		m.hideTexts(attributes, 0, secrets)
	}
}

// maxCounted is up to how many secrets counting is quicker than going through all values.
const maxCounted = 16

// hasMore reports whether a secret stands anywhere but in the spans.
func hasMore(attributes []byte, spans []span, secrets map[string]bool) bool {
	for text := range secrets {
		count := bytes.Count(attributes, []byte(text))
		for _, s := range spans {
			count -= bytes.Count(attributes[s.start:s.end], []byte(text))
		}
		if count > 0 {
			return true
		}
	}
	return false
}

// collectTexts adds the strings in a value that are long enough, as they are written.
func collectTexts(raw []byte, depth int, to map[string]bool) {
	if raw[0] == '"' && len(raw) >= minEcho {
		to[string(raw)] = true
	}
	if depth == maxDepth || raw[0] != '{' && raw[0] != '[' {
		return
	}
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		collectTexts(raw[c.Start:c.End], depth+1, to)
		return nil
	})
}

// hideTexts hides the strings that are secrets, and what is too deep to look into.
func (m *mask) hideTexts(raw []byte, depth int, secrets map[string]bool) {
	container := raw[0] == '{' || raw[0] == '['
	if m.all || !container && !secrets[string(raw)] {
		return
	}
	if !container || depth == maxMarks {
		m.all = true
		return
	}
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		below := m.of(c)
		if below == nil {
			below = &mask{}
		}
		below.hideTexts(raw[c.Start:c.End], depth+1, secrets)
		if below.all || below.size() > 0 {
			m.put(stepTo(c), below)
		}
		return nil
	})
}
