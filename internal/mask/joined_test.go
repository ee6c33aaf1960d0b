package mask

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/internal/ansi"
)

// What people see once the colours are out of a text is masked, however the colours stand in a secret.
func TestColoursDoNotHideSecrets(t *testing.T) {
	const secret = "tok_abcdwXyZ9876"
	tooLong := "tok_abcd\x1b]" + strings.Repeat("x", mostSkipped+1) + "\x07x"
	for text, want := range map[string]string{
		"tok=tok_abcd\x1b[01;31m\x1b[KwXyZ\x1b[m\x1b[K9876\n":         "tok=***\n",
		`{"m":"tok=tok_abcd\u001b[01;31m\u001B[KwXyZ\u001b[m9876\n"}`: `{"m":"tok=***\n"}`,
		"\x1b[1mtok_abcdwXyZ9876\x1b[0m":                              "\x1b[1m***\x1b[0m",
		"t\x1b]8;;http://x\x1b\\ok_abcdwXyZ\x1b(B9876":                "***",
		"tok_tok_abcd\x1b[1mwXyZ9876 \x1b[1mtok_abcdwXyZ987\x1b[1m x": "tok_*** \x1b[1mtok_abcdwXyZ987\x1b[1m x",
		`tok_abcd\u001wXyZ9876 \\u tok_abcdwXyZ9876\`:                 `tok_abcd\u001wXyZ9876 \\u ***\`,
		tooLong: tooLong,
	} {
		m := New([]string{secret})
		if got := string(m.Bytes([]byte(text))); got != want {
			t.Errorf("%.80q became %.80q, want %.80q", text, got, want)
		}
		if found := m.Finds([]byte(text)); found != (want != text) {
			t.Errorf("%.80q: found %v", text, found)
		}
	}
}

// shows is hidden of a text, and of it without its sequences.
func shows(all patterns, text string) []bool {
	out := hidden(all, text)
	var scan ansi.Scanner
	var plain []byte
	var at []int
	for i := range len(text) {
		if scan.Keeps(text[i]) {
			plain, at = append(plain, text[i]), append(at, i)
		}
	}
	for pattern := range all {
		for from := range plain {
			if bytes.HasPrefix(plain[from:], []byte(pattern)) {
				for i := at[from]; i <= at[from+len(pattern)-1]; i++ {
					out[i] = true
				}
			}
		}
	}
	return out
}

// However a text with escape sequences is cut, it is masked as if it came at once, and as the slow way does.
func TestColoursOverAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abm")), 0, 7, -1)
		secrets := rapid.SliceOfN(letters, 0, 5).Draw(t, "secrets")
		part := rapid.OneOf(letters,
			rapid.SampledFrom([]string{"\x1b[m", "\x1b[1m", "\x1b", "[", "\x1b(B", "\x1b]a\x07", "\n"}))
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		all := patternsOf(secrets)
		m := &Masker{automaton: newAutomaton(all)}
		want := []byte(text)
		for i, hide := range shows(all, text) {
			if hide {
				want[i] = star
			}
		}
		var out bytes.Buffer
		w := m.Writer(&out)
		var covered []byte
		last := Covered{}
		for done := 0; done < len(text); {
			n := rapid.IntRange(1, len(text)-done).Draw(t, "piece")
			_, _ = w.Write([]byte(text[done : done+n]))
			was := last
			last = m.Cover([]byte(text[done-was.Context:done+n]), was.Context-was.Open)
			if last.Open > last.Context {
				t.Fatalf("%d bytes are open of %d", last.Open, last.Context)
			}
			covered = append(covered[:done-was.Open], last.Text[was.Context-was.Open:]...)
			if done += n; string(covered[:done-last.Open]) != string(want[:done-last.Open]) {
				t.Fatalf("of %q there is %q, want %q", text[:done], covered[:done-last.Open], want[:done-last.Open])
			}
		}
		if string(covered) != string(want) {
			t.Fatalf("%q was covered as %q, want %q", text, covered, want)
		}
		if err := w.Close(); err != nil || out.String() != string(m.Bytes([]byte(text))) {
			t.Fatalf("%q became %q in pieces, %q at once, %v", text, out.String(), m.Bytes([]byte(text)), err)
		}
	})
}
