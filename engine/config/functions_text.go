package config

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"  //nolint:gosec // functions that configurations call
	"crypto/sha1" //nolint:gosec // the same
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func textFunctions() map[string]function.Function {
	two := []string{"str", "part"}
	return map[string]function.Function{
		"startswith":  tested(two, func(a []string) bool { return strings.HasPrefix(a[0], a[1]) }),
		"endswith":    tested(two, func(a []string) bool { return strings.HasSuffix(a[0], a[1]) }),
		"strcontains": tested(two, func(a []string) bool { return strings.Contains(a[0], a[1]) }),
		"replace": textual([]string{"str", "substr", "replace"}, func(a []string) (string, error) {
			if len(a[1]) > 1 && strings.HasPrefix(a[1], "/") && strings.HasSuffix(a[1], "/") {
				pattern, err := regexp.Compile(a[1][1 : len(a[1])-1])
				if err != nil {
					return "", err
				}
				return pattern.ReplaceAllString(a[0], a[2]), nil
			}
			return strings.ReplaceAll(a[0], a[1], a[2]), nil
		}),
		"urlencode": textual([]string{"str"}, func(a []string) (string, error) { return url.QueryEscape(a[0]), nil }),
		"urldecode": textual([]string{"str"}, func(a []string) (string, error) { return url.QueryUnescape(a[0]) }),
		"uuidv5": textual([]string{"namespace", "name"}, func(a []string) (string, error) {
			spaces := map[string]uuid.UUID{"dns": uuid.NameSpaceDNS, "url": uuid.NameSpaceURL, "oid": uuid.NameSpaceOID,
				"x500": uuid.NameSpaceX500}
			space, ok := spaces[a[0]]
			if !ok {
				var err error
				if space, err = uuid.Parse(a[0]); err != nil {
					return "", err
				}
			}
			return uuid.NewSHA1(space, []byte(a[1])).String(), nil
		}),
		"timecmp": function.New(&function.Spec{Params: []function.Parameter{{Name: "a", Type: cty.String},
			{Name: "b", Type: cty.String}}, Type: function.StaticReturnType(cty.Number), Impl: compareTimes}),
	}
}

func compareTimes(args []cty.Value, _ cty.Type) (cty.Value, error) {
	a, err := time.Parse(time.RFC3339, args[0].AsString())
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	b, err := time.Parse(time.RFC3339, args[1].AsString())
	if err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	return cty.NumberIntVal(int64(a.Compare(b))), nil
}

func hashes() map[string]func() hash.Hash {
	return map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}
}

func hashFunctions() map[string]function.Function {
	str := []string{"str"}
	all := map[string]function.Function{
		"base64encode": textual(str, func(a []string) (string, error) {
			return base64.StdEncoding.EncodeToString([]byte(a[0])), nil
		}),
		"base64decode": textual(str, func(a []string) (string, error) {
			b, err := base64.StdEncoding.DecodeString(a[0])
			if err == nil && !utf8.Valid(b) {
				err = fmt.Errorf("what it decodes to isn't UTF-8")
			}
			return string(b), err
		}),
		"base64gunzip": textual(str, func(a []string) (string, error) { return unpacked(a[0]) }),
		"base64gzip": textual(str, func(a []string) (string, error) {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write([]byte(a[0])); err != nil {
				return "", err
			}
			err := w.Close()
			return base64.StdEncoding.EncodeToString(b.Bytes()), err
		}),
	}
	for name, made := range hashes() {
		all[name] = textual(str, func(a []string) (string, error) { return hex.EncodeToString(sum(made, a[0])), nil })
		if name == "sha256" || name == "sha512" {
			all["base64"+name] = textual(str, func(a []string) (string, error) {
				return base64.StdEncoding.EncodeToString(sum(made, a[0])), nil
			})
		}
	}
	return all
}

// maxUnpacked bounds what base64gunzip makes of its argument.
const maxUnpacked = 64 << 20

// unpacked is the text in what base64gzip makes.
func unpacked(text string) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	switch {
	case err != nil:
		return "", err
	case len(plain) > maxUnpacked:
		return "", fmt.Errorf("it is larger than %d bytes", maxUnpacked)
	case !utf8.Valid(plain):
		return "", fmt.Errorf("what it has isn't UTF-8")
	}
	return string(plain), nil
}

func sum(made func() hash.Hash, text string) []byte {
	h := made()
	h.Write([]byte(text))
	return h.Sum(nil)
}
