package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// nasty has what each of the encodings writes in another way.
const nasty = `p@ss "w0rd" <&> ${x} %{y} ü/🔑+\` + "\t'!~"

func TestEncodingsAreMasked(t *testing.T) {
	m := New([]string{nasty})
	inJSON, err := json.Marshal(map[string]string{"password": nasty})
	if err != nil {
		t.Fatal(err)
	}
	inJSONTwice, err := json.Marshal(string(inJSON))
	if err != nil {
		t.Fatal(err)
	}
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + nasty))
	for name, c := range map[string]struct{ text, want string }{
		"as it is":      {"it is " + nasty + ".", "it is ***."},
		"twice":         {nasty + nasty, "***"},
		"with a space":  {nasty + " " + nasty, "*** ***"},
		"JSON":          {string(inJSON), `{"password":"***"}`},
		"JSON in JSON":  {string(inJSONTwice), `"{\"password\":\"***\"}"`},
		"JSON in ASCII": {`"p@ss \"w0rd\" <&> ${x} %{y} \u00fc/\ud83d\udd11+\\\t'!~"`, `"***"`},
		"HCL":           {`"p@ss \"w0rd\" <&> $${x} %%{y} ü/🔑+\\\t'!~"`, `"***"`},
		"Go":            {fmt.Sprintf("%q", nasty), `"***"`},
		"Go in ASCII":   {fmt.Sprintf("%+q", nasty), `"***"`},
		"query":         {"?q=" + url.QueryEscape(nasty) + "&", "?q=***&"},
		"path":          {"/" + url.PathEscape(nasty) + "/", "/***/"},
		"user": {(&url.URL{Scheme: "https", User: url.UserPassword("me", nasty), Host: "h"}).String(),
			"https://me:***@h"},
		"script": {"p%40ss%20%22w0rd%22%20%3C%26%3E%20%24%7Bx%7D%20%25%7By%7D%20%C3%BC%2F%F0%9F%94%91%2B%5C%09'!~",
			"***"},
		"small":            {strings.ToLower(url.QueryEscape(nasty)), "***"},
		"hexadecimal":      {"0x" + hex.EncodeToString([]byte(nasty)), "0x***"},
		"HEXADECIMAL":      {fmt.Sprintf("%X", nasty), "***"},
		"base64":           {base64.StdEncoding.EncodeToString([]byte(nasty)), "***"},
		"base64 for URLs":  {base64.URLEncoding.EncodeToString([]byte(nasty)), "***"},
		"base64, bare":     {base64.RawURLEncoding.EncodeToString([]byte(nasty)), "***"},
		"base64 of a line": {base64.StdEncoding.EncodeToString([]byte(nasty + "\n")), "***"},
		"Basic":            {"Authorization: Basic " + basic + "\r\n", "Authorization: Basic " + basic[:7] + "***\r\n"},
		"nothing":          {"p@ss \"w0rd\"", "p@ss \"w0rd\""},
	} {
		if got := string(m.Bytes([]byte(c.text))); got != c.want {
			t.Errorf("%s: %s\nbecame %s\nwant   %s", name, c.text, got, c.want)
		}
	}
}

// What was encoded as base64 is masked at every place in every text, but for a character at
// each end that has bits of its neighbour.
func TestBase64WithNeighbours(t *testing.T) {
	for _, secret := range []string{"abc", "hunter2", "\xff\xfe\xfb\xef", nasty, strings.Repeat("long ", 40)} {
		m := New([]string{secret})
		for before := range 7 {
			for after := range 4 {
				plain := strings.Repeat("x", before) + secret + strings.Repeat("\xaa", after)
				for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
					base64.RawURLEncoding} {
					text := encoding.EncodeToString([]byte(plain))
					from, to := (before*8+5)/6, len(text)
					if after > 0 {
						to = (before + len(secret)) * 8 / 6
					}
					want := text[:from] + stars + text[to:]
					if got := string(m.Bytes([]byte(text))); got != want {
						t.Errorf("%d bytes, %q, %d bytes: %s\nbecame %s\nwant   %s", before, secret, after, text, got, want)
					}
				}
			}
		}
	}
}

const pem = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7
VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu
short
ictGeurT8jNbvJZHtCSuYEvu
-----END PRIVATE KEY-----
`

func TestSecretOfSeveralLines(t *testing.T) {
	m := New([]string{pem})
	encoded := base64.StdEncoding.EncodeToString([]byte(pem))
	var wrapped, masked string
	for line := range slices.Chunk([]byte(encoded), 76) {
		wrapped, masked = wrapped+string(line)+"\n", masked+"***\n"
	}
	lines := strings.Split(pem, "\n")
	quoted, err := json.Marshal(pem)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"<" + pem + ">", "<***>"},
		{"<" + strings.ReplaceAll(pem, "\n", "\r\n") + ">", "<***>"},
		{"<" + strings.TrimSpace(pem) + ">", "<***>"},
		{"  + " + lines[1] + "\n  + " + lines[2] + "\n", "  + ***\n  + ***\n"},
		{"short", "short"},
		{string(quoted), `"***"`},
		{"key=" + encoded, "key=***"},
		{wrapped, masked},
	} {
		if got := string(m.Bytes([]byte(c[0]))); got != c[1] {
			t.Errorf("%s\nbecame %s\nwant %s", c[0], got, c[1])
		}
	}
}

// A long secret is looked for in fewer encodings, among them those of plans.
func TestLongSecret(t *testing.T) {
	long := strings.Repeat("a\n\"b\" ${c} ", 1000) + "end"
	m := New([]string{long})
	quoted, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{long, unquoted(string(quoted)), hclEscaped(long), hex.EncodeToString([]byte(long)),
		base64.StdEncoding.EncodeToString([]byte(long))} {
		if got := string(m.Bytes([]byte("<" + text + ">"))); got != "<***>" {
			t.Errorf("%.50s… became %.50s…", text, got)
		}
	}
}

// A secret that was read from a file has the line end of the file; what is printed has not.
func TestSecretWithSpaceAround(t *testing.T) {
	m := New([]string{" hunter2\n", "ab\n"})
	if got := string(m.Bytes([]byte("(hunter2)(ab)"))); got != "(***)(ab)" {
		t.Errorf("got %s", got)
	}
}

func TestTooShort(t *testing.T) {
	m := New([]string{"a", "abc", "", "üü", "üüü"})
	if got := m.TooShort(); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("too short are %v", got)
	}
	if got := string(m.Bytes([]byte("a üü abc üüü"))); got != "a üü *** ***" {
		t.Errorf("got %s", got)
	}
	if got := string(New(nil).Bytes([]byte("anything"))); got != "anything" {
		t.Errorf("without secrets: %s", got)
	}
}

// Where secrets are in one another, behind one another or overlap, all of it is masked.
func TestOverlaps(t *testing.T) {
	m := New([]string{"abcd", "cdef", "bcd", "abcdefghij", "fgh"})
	for text, want := range map[string]string{
		"abcd": "***", "abcdef": "***", "xabcdefgh": "x***", "abcdefghij": "***", "abcdefghi": "***i", "bcdbcd": "***",
		"abcabcd": "abc***", "cdefgx": "***gx", "abcdxabcd": "***x***", "abc": "abc", "abcdefg": "***g", "fghcdef": "***",
	} {
		if got := string(m.Bytes([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestWriterReports(t *testing.T) {
	broken := errors.New("broken")
	reader, to := io.Pipe()
	_ = reader.CloseWithError(broken)
	w := New([]string{"secret"}).Writer(to)
	for range 2 {
		if n, err := w.Write([]byte("text")); n != 0 || !errors.Is(err, broken) {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if err := w.Close(); !errors.Is(err, broken) {
		t.Errorf("Close: %v", err)
	}

	var out bytes.Buffer
	w = New([]string{"secret"}).Writer(&out)
	if n, err := w.Write([]byte("a secr")); n != 6 || err != nil || out.String() != "a " {
		t.Errorf("wrote %d, %v: %q", n, err, out.String())
	}
	for range 2 {
		if err := w.Close(); err != nil || out.String() != "a secr" {
			t.Errorf("Close: %v, %q", err, out.String())
		}
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
}

// Writing byte by byte is what a log that is read from a pipe may come to.
func TestByteByByte(t *testing.T) {
	var out bytes.Buffer
	w := New([]string{nasty, pem}).Writer(&out)
	if _, err := io.Copy(w, iotest.OneByteReader(strings.NewReader("a "+nasty+" b\n"+pem+"c"))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil || out.String() != "a *** b\n***c" {
		t.Errorf("%v: %s", err, out.String())
	}
}
