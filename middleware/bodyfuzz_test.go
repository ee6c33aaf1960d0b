package middleware

import (
	"crypto/md5"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzContentMD5: a body passes with its own digest and with no other.
func FuzzContentMD5(f *testing.F) {
	fuzzseeds.Add(f)
	sum := md5.Sum([]byte("body"))
	digest := base64.StdEncoding.EncodeToString(sum[:])
	f.Add(digest, []byte("body"))
	f.Add(digest, []byte("Body"))
	f.Add(strings.TrimRight(digest, "="), []byte("body"))
	f.Add(digest+"0", []byte("body"))
	f.Add(" ", []byte(""))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		own := md5.Sum(body)
		if err := checkMD5(base64.StdEncoding.EncodeToString(own[:]), body); err != nil {
			t.Fatalf("%q is refused with its own digest: %v", body, err)
		}
		err := checkMD5(header, body)
		decoded, unreadable := base64.StdEncoding.DecodeString(header)
		right := unreadable == nil && string(decoded) == string(own[:])
		if (err == nil) != (header == "" || right) || err != nil && !fault.Is(err, fault.DigestMismatch) {
			t.Fatalf("%q for %q: %v", header, body, err)
		}
	})
}
