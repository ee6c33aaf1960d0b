package local

import "testing"

func TestAnswer(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n": "{}\n",
		"\nWarning: Unable to open CLI configuration file\n\nThe file {x} is not there.\n\n{\n  \"a\": {}\n}\n": "{\n  \"a\": {}\n}\n",
		"Error: no\n": "Error: no\n", "": "",
	} {
		if got := string(answer([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
