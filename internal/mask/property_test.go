package mask

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// hidden says of each byte of a text whether it is part of a pattern, the slow way.
func hidden(all patterns, text string) []bool {
	out := make([]bool, len(text))
	for pattern := range all {
		for from := range len(text) {
			if strings.HasPrefix(text[from:], pattern) {
				for i := range len(pattern) {
					out[from+i] = true
				}
			}
		}
	}
	return out
}

// undecided is how long the longest end of a text is that a pattern begins with.
func undecided(all patterns, text string) (longest int) {
	for pattern := range all {
		for n := min(len(pattern), len(text)); n > longest; n-- {
			if strings.HasSuffix(text, pattern[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// shown is what has to be written of a text once it has come: all of it but the undecided
// end, and of that what is hidden in any case and begins where the rest ends.
func shown(all patterns, text string, undecided int) string {
	var out strings.Builder
	hide, masked := hidden(all, text), false
	for i := range len(text) {
		if i >= len(text)-undecided && !hide[i] {
			break
		}
		if !hide[i] {
			out.WriteByte(text[i])
		} else if !masked {
			out.WriteString(stars)
		}
		masked = hide[i]
	}
	return out.String()
}

// The texts are of few letters, so that there is much that begins like a secret.
func letters(from, to int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), from, to, -1)
}

// text has secrets, parts of them and other things.
func textWith(secrets []string) *rapid.Generator[string] {
	parts := []*rapid.Generator[string]{letters(0, 5), rapid.Just("x")}
	for _, secret := range secrets {
		parts = append(parts, rapid.Just(secret),
			rapid.Map(rapid.IntRange(0, len(secret)), func(n int) string { return secret[:n] }))
	}
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(parts...), 0, 8),
		func(all []string) string { return strings.Join(all, "") })
}

func patternsOf(secrets []string) patterns {
	all := patterns{}
	for _, secret := range secrets {
		if len(secret) >= leastSecret {
			all.add(secret)
		}
	}
	return all
}

// Whatever is written in whatever pieces, after each of them everything is out that is not
// the beginning of a secret, nothing of a secret is, and in the end it is the same text.
func TestWriterOverAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(letters(0, 9), 0, 5).Draw(t, "secrets")
		text := textWith(secrets).Draw(t, "text")
		all := patternsOf(secrets)
		var out bytes.Buffer
		w := &writer{automaton: newAutomaton(all), to: &out}
		longest := 0
		for pattern := range all {
			longest = max(longest, len(pattern))
		}
		for done := 0; done < len(text); {
			n := rapid.IntRange(0, len(text)-done).Draw(t, "piece")
			if got, err := w.Write([]byte(text[done : done+n])); got != n || err != nil {
				t.Fatalf("wrote %d, %v", got, err)
			}
			if done += n; out.String() != shown(all, text[:done], undecided(all, text[:done])) {
				t.Fatalf("of %q there is %q, want %q", text[:done], out.String(),
					shown(all, text[:done], undecided(all, text[:done])))
			}
			if len(w.held) > longest {
				t.Fatalf("%d bytes are held", len(w.held))
			}
		}
		if err := w.Close(); err != nil || out.String() != shown(all, text, 0) {
			t.Fatalf("%q became %q, want %q, %v", text, out.String(), shown(all, text, 0), err)
		}
	})
}

// However a text is cut, it is covered as if it came at once, and what is not open stays.
func TestCoverOverAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(letters(0, 9), 0, 5).Draw(t, "secrets")
		text := textWith(secrets).Draw(t, "text")
		all := patternsOf(secrets)
		m := &Masker{automaton: newAutomaton(all)}
		want := []byte(text)
		for i, hide := range hidden(all, text) {
			if hide {
				want[i] = star
			}
		}
		var shown []byte
		last := Covered{}
		for done := 0; done < len(text); {
			n := rapid.IntRange(1, len(text)-done).Draw(t, "piece")
			from := done - last.Context
			if last.Open > last.Context {
				t.Fatalf("%d bytes are open of %d", last.Open, last.Context)
			}
			was := last
			last = m.Cover([]byte(text[from:done+n]), was.Context-was.Open)
			if last.Open > was.Open+n {
				t.Fatalf("%d bytes are open, which were not all", last.Open)
			}
			shown = append(shown[:done-was.Open], last.Text[was.Context-was.Open:]...)
			done += n
			if clear := done - last.Open; string(shown[:clear]) != string(want[:clear]) {
				t.Fatalf("of %q there is %q, want %q", text[:done], shown[:clear], want[:clear])
			}
		}
		if string(shown) != string(want) {
			t.Fatalf("%q became %q, want %q", text, shown, want)
		}
	})
}

// What is read in whatever pieces is covered as if it came at once.
func TestCoveringOverAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(letters(0, 9), 0, 5).Draw(t, "secrets")
		text := textWith(secrets).Draw(t, "text")
		m := &Masker{automaton: newAutomaton(patternsOf(secrets))}
		var parts []io.Reader
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			parts, rest = append(parts, strings.NewReader(rest[:n])), rest[n:]
		}
		got, err := io.ReadAll(m.Covering(io.MultiReader(parts...)))
		if want := m.Cover([]byte(text), 0).Text; err != nil || string(got) != string(want) {
			t.Fatalf("%q became %q, %v; want %q", text, got, err, want)
		}
	})
}

// The same with whole secrets, in all their encodings.
func TestSplitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringN(0, 20, -1), 0, 3).Draw(t, "secrets")
		all := patterns{}
		for _, secret := range secrets {
			if secret != "" {
				all.addSecret(secret)
			}
		}
		text := rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom(append([]string{""}, keys(all)...))),
			0, 6),
			func(parts []string) string { return strings.Join(parts, "") }).Draw(t, "text")
		m := New(secrets)
		want := string(m.Bytes([]byte(text)))
		var out bytes.Buffer
		w := m.Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Fatalf("%q became %q in pieces, %q at once", text, out.String(), want)
		}
	})
}

func keys(all patterns) (out []string) {
	for pattern := range all {
		out = append(out, pattern)
	}
	return out
}

// FuzzMask: a writer shows what the slow way shows, wherever the text is cut.
func FuzzMask(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add("secret", "ecre", "a secret secr", 4)
	f.Add("aab", "aaab", "aaaaabaab", 3)
	f.Add(nasty, pem, nasty+"\n"+pem, 20)
	f.Fuzz(func(t *testing.T, one, other, text string, cut int) {
		if len(one)+len(other) > 60 || len(text) > 300 {
			t.Skip("the slow way takes too long")
		}
		secrets := []string{one, other}
		m := New(secrets)
		all := patterns{}
		for i, secret := range secrets {
			if slices.Contains(m.TooShort(), i) {
				continue
			}
			all.addSecret(secret)
			if trimmed := strings.TrimSpace(secret); len([]rune(trimmed)) >= leastSecret {
				all.addSecret(trimmed)
			}
		}
		want := shown(all, text, 0)
		cut = min(max(cut, 0), len(text))
		var out bytes.Buffer
		w := m.Writer(&out)
		for _, part := range []string{text[:cut], text[cut:]} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Fatalf("%q became %q, want %q, %v", text, out.String(), want, err)
		}
	})
}
