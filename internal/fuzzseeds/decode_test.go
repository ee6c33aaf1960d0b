package fuzzseeds

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// planted is the variable of the environment that lets FuzzSeed fail for every text.
const planted = "FUZZSEEDS_PLANTED"

// FuzzSeed: the values of a seed, written as go test -fuzz does and put into an archive, are
// the same when they are read again, whatever bytes they have.
func FuzzSeed(f *testing.F) {
	Add(f)
	f.Add("", []byte{}, int64(0), uint16(0), false)
	f.Fuzz(func(t *testing.T, text string, data []byte, number int64, small uint16, yes bool) {
		if os.Getenv(planted) != "" && text != "" {
			t.Fatal("this is the planted failure")
		}
		seed := fmt.Appendf(nil, "%s\nstring(%q)\n[]byte(%q)\nint64(%d)\nuint16(%d)\nbool(%v)\n", header, text, data, number,
			small, yes)
		packed := txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: "found/a", Data: seed},
			{Name: "found/b", Data: seed}}})
		files := txtar.Parse(packed).Files
		if len(files) != 2 || !bytes.Equal(files[0].Data, seed) || !bytes.Equal(files[1].Data, seed) {
			t.Fatalf("%s is packed as\n%s", seed, packed)
		}
		values, err := decode(files[0].Data)
		if diff := cmp.Diff([]any{text, data, number, small, yes}, values); diff != "" || err != nil {
			t.Fatalf("%s\n%v\n%s", seed, err, diff)
		}
	})
}

func TestDecodeKnowsOtherNumbers(t *testing.T) {
	values, err := decode([]byte(header + "\nint(-3)\nbyte('a')\nuint8(0xff)\nuint64(18446744073709551615)\n"))
	if diff := cmp.Diff([]any{-3, byte('a'), uint8(255), uint64(1<<64 - 1)}, values); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for seed, why := range map[string]string{
		"":                                "the first line",
		"go test fuzz v2\nstring(\"\")\n": "the first line",
		header + "\n":                     "no value",
		header + "\nstring(\"\n":          "string literal not terminated",
		header + "\nuint16(70000)\n":      "overflow",
		header + "\nfloat32(1)\n":         "no target has so far",
		header + "\n[]byte(f)\n":          "undefined",
		header + "\n-- a --\n":            "expected operand",
	} {
		values, err := decode([]byte(seed))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q gives %v, %v; want an error with %q", seed, values, err, why)
		}
	}
}
