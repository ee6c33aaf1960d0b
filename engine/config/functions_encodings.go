package config

import (
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/crypto/ssh"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

func encodingFunctions() map[string]function.Function {
	return map[string]function.Function{
		"textencodebase64": textual([]string{"string", "encoding"}, func(a []string) (string, error) {
			e, err := encodingOf(a[1])
			if err != nil {
				return "", err
			}
			text, err := e.NewEncoder().String(a[0])
			if err != nil {
				return "", function.NewArgErrorf(0, "it has characters that %s doesn't have", a[1])
			}
			return base64.StdEncoding.EncodeToString([]byte(text)), nil
		}),
		"textdecodebase64": textual([]string{"source", "encoding"}, func(a []string) (string, error) {
			e, err := encodingOf(a[1])
			if err != nil {
				return "", err
			}
			packed, err := base64.StdEncoding.DecodeString(a[0])
			if err != nil {
				return "", function.NewArgError(0, err)
			}
			// Decoders put U+FFFD in the place of what they don't know.
			text, err := e.NewDecoder().String(string(packed))
			if err != nil || strings.ContainsRune(text, utf8.RuneError) {
				return "", function.NewArgErrorf(0, "it has bytes that %s doesn't have", a[1])
			}
			return text, nil
		}),
		"rsadecrypt": textual([]string{"ciphertext", "privatekey"}, func(a []string) (string, error) {
			return decrypted(a[0], a[1])
		}),
		"ephemeralasnull": ephemeralAsNull(),
	}
}

// encodingOf finds an encoding by its name at IANA, the second argument of a call.
func encodingOf(name string) (encoding.Encoding, error) {
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil {
		return nil, function.NewArgErrorf(1, "there is no encoding %q", name)
	}
	return e, nil
}

// decrypted is what was encrypted for an RSA key with the padding of PKCS #1 v1.5. Errors have neither the text nor
// the key.
func decrypted(ciphertext, key string) (string, error) {
	sealed, err := base64.StdEncoding.DecodeString(ciphertext)
	if err != nil {
		return "", function.NewArgError(0, err)
	}
	parsed, err := ssh.ParseRawPrivateKey([]byte(key))
	if err != nil {
		return "", function.NewArgErrorf(1, "the private key can't be read")
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return "", function.NewArgErrorf(1, "the private key is no RSA key")
	}
	//nolint:staticcheck // this padding is what the function is for; no attacker asks it again and again
	plain, err := rsa.DecryptPKCS1v15(nil, private, sealed)
	if err != nil {
		return "", errors.New("it can't be decrypted with this key")
	}
	return string(plain), nil
}

// ephemeralAsNull gives back what it is given, with its marks: whatever could make a value ephemeral is refused where
// it stands, so that no value is.
func ephemeralAsNull() function.Function {
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType,
		AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true}},
		Type: func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil }})
}
