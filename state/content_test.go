package state

import "testing"

// What one apply has written is one content, however often and by whom it is brought.
func TestContent(t *testing.T) {
	const refused = `{"version":4,"serial":2,"lineage":"L","outputs":{"a b":{"value":" x \" y "}},"resources":[]}`
	same := []string{
		`{"version":4,"serial":4711,"lineage":"L","outputs":{"a b":{"value":" x \" y "}},"resources":[]}`,
		"{\n  \"version\": 4,\n  \"serial\": 3,\r\n\t\"lineage\": \"L\",\n  \"outputs\": {\"a b\": {\"value\": \" x \\\" y " +
			"\"}},\n  \"resources\": []\n}\n",
	}
	others := []string{
		`{"version":4,"serial":2,"lineage":"L","outputs":{"a b":{"value":" x \"  y "}},"resources":[]}`,
		`{"version":4,"serial":2,"lineage":"L","outputs":{"ab":{"value":" x \" y "}},"resources":[]}`,
		`{"version":4,"serial":2,"lineage":"M","outputs":{"a b":{"value":" x \" y "}},"resources":[]}`,
		`{"version":4,"lineage":"L"}`, `{"version":4,"lineage":"L","nested":{"serial":1}}`,
		`{"version":4,"lineage":"L","nested":{"serial":2}}`,
		`[1]`, `{"serial":`, ``,
	}
	for _, body := range same {
		if contentOf([]byte(body)) != contentOf([]byte(refused)) {
			t.Errorf("%s is other content", body)
		}
	}
	seen := map[Digest]string{contentOf([]byte(refused)): refused}
	for _, body := range others {
		content := contentOf([]byte(body))
		if before, ok := seen[content]; ok {
			t.Errorf("%s has the content of %s", body, before)
		}
		seen[content] = body
	}
}
