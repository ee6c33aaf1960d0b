package engine_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider/fake"
)

// TestFunctions evaluates testdata/functions, in which each output has what a function gives and what it should give.
// That OpenTofu finds the same is held by the tests with the real clients.
func TestFunctions(t *testing.T) {
	s := &site{dir: t.TempDir(), world: &fake.World{}}
	if err := os.CopyFS(s.dir, os.DirFS("testdata/functions")); err != nil {
		t.Fatal(err)
	}
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Outputs) < 120 {
		t.Errorf("there are %d outputs", len(p.Outputs))
	}
	for _, o := range p.Outputs {
		both := o.After.AsValueSlice()
		var texts []string
		for _, v := range both {
			b, err := ctyjson.SimpleJSONValue{Value: v}.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
		if d := cmp.Diff(texts[1], texts[0]); d != "" {
			t.Errorf("%s (- want, + got):\n%s", o.Name, d)
		}
	}
}

// Wrong arguments are said at the place of the call.
func TestFunctionsSayWhatIsWrong(t *testing.T) {
	keys := privateKeys(t)
	for expr, want := range map[string]string{
		`coalesce("", null)`:                   "all are null or empty",
		`coalesce([], {})`:                     "one type",
		`length(1)`:                            "has a length",
		`one(["a", "b"])`:                      "one element or none",
		`one(toset(["a", "b"]))`:               "there are 2 elements",
		`one("a")`:                             "one element or none",
		`sum([])`:                              "at least one number",
		`sum(["a"])`:                           "no number",
		`index(["a"], "b")`:                    "doesn't have it",
		`index({}, "b")`:                       "a list that is wanted",
		`matchkeys(["a"], [], [])`:             "same length",
		`cidrhost("10.0.0.0/33", 1)`:           "10.0.0.0/33",
		`cidrhost("10.0.0.0/30", 9)`:           "has no number 9",
		`cidrnetmask("::/8")`:                  "no IPv4 prefix",
		`cidrsubnet("10.0.0.0/8", 2, 4)`:       "no such subnet",
		`cidrsubnet("x", 2, 4)`:                "prefix",
		`cidrsubnets("10.0.0.0/30", 1, 1, 1)`:  "no room left",
		`cidrsubnets("10.0.0.0/30", 9)`:        "no prefixes of",
		`cidrsubnets("x", 9)`:                  "prefix",
		`cidrcontains("10.0.0.0/8", "x")`:      "neither an address nor a prefix",
		`cidrcontains("x", "10.0.0.1")`:        "prefix",
		`replace("a", "/(/", "")`:              "missing",
		`uuidv5("x", "y")`:                     "UUID",
		`timecmp("x", "2024-01-02T03:04:05Z")`: "parsing time",
		`timecmp("2024-01-02T03:04:05Z", "x")`: "parsing time",
		`base64decode("/w==")`:                 "isn't UTF-8",
		`base64gunzip("/w==")`:                 "EOF",
		`base64gunzip("!")`:                    "base64",
		`file("none.txt")`:                     "no such file",
		`file("bytes")`:                        "isn't UTF-8",
		`templatefile("none.tftpl", {})`:       "no such file",
		`templatefile("bad.tftpl", {})`:        "bad.tftpl",
		`templatestring("$${x}", {})`:          "x",
		`templatestring("$${x}", 1)`:           "are a map",
		`templatestring("$${templatestring(x, {})}", { x = "" })`: "templatestring",
		`fileset("none", "*")`:                  "no such file",
		`timestamp()`:                           "timestamp",
		`textencodebase64("ö", "US-ASCII")`:     "characters that US-ASCII doesn't have",
		`textencodebase64("a", "none")`:         `no encoding "none"`,
		`textdecodebase64("!", "UTF-8")`:        "base64",
		`textdecodebase64("a", "none")`:         `no encoding "none"`,
		`textdecodebase64("gQ==", "Shift_JIS")`: "bytes that Shift_JIS doesn't have",
		`rsadecrypt("!", "")`:                   "base64",
		`rsadecrypt("YQ==", "hush")`:            "private key can't be read",
		`rsadecrypt("YQ==", file("other.pem"))`: "no RSA key",
		`rsadecrypt("YQ==", file("key.pem"))`:   "can't be decrypted",
	} {
		s := newSite(t, "output \"o\" {\n  value = "+expr+"\n}\n")
		s.write(t, "bytes", "\xff\xfe")
		s.write(t, "bad.tftpl", "%{ if }")
		s.write(t, "key.pem", keys[0])
		s.write(t, "other.pem", keys[1])
		_, _, err := s.plan(plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "main.tf:2") {
			t.Errorf("%s: %v, want %q with its place", expr, err, want)
		}
	}
}

// privateKeys are a key that rsadecrypt can use, and one that it can't.
func privateKeys(t *testing.T) [2]string {
	t.Helper()
	usable, err := os.ReadFile("testdata/functions/files/key.pem")
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	return [2]string{string(usable), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))}
}
