package oidc_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func payload(t *testing.T, claims oidctest.Claims) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUnsignedTokens(t *testing.T) {
	r := newRig(t)
	claims := part(payload(t, r.claims()))
	signature := strings.Split(r.key.Sign(t, r.claims()), ".")[2]
	for _, alg := range []string{"none", "None", "NONE", "", "HS256", "HS512", "ES256K", "dir"} {
		for _, end := range []string{"", signature} {
			token := part(fmt.Sprintf(`{"alg":%q,"kid":"first"}`, alg)) + "." + claims + "." + end
			r.mustFail(t, token, fault.TokenRefused, "its alg is none of RS256,")
		}
	}
	for _, header := range []string{`{"kid":"first"}`, `{"alg":null}`} {
		r.mustFail(t, part(header)+"."+claims+"."+signature, fault.TokenRefused, "the token is refused: it")
	}
}

// Vulnerability: the issuer's public key, taken for the shared secret of an HMAC.
func TestPublicKeyIsNoSecret(t *testing.T) {
	r := newRig(t)
	key := r.issuer.Add(t, "rsa", jose.RS256)
	der, err := x509.MarshalPKIXPublicKey(key.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range [][]byte{der, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})} {
		signed := part(`{"alg":"HS256","kid":"rsa"}`) + "." + part(payload(t, r.claims()))
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		r.mustFail(t, signed+"."+part(string(mac.Sum(nil))), fault.TokenRefused, "its alg is none of")
	}
}

func TestForgedTokens(t *testing.T) {
	r := newRig(t)
	good := strings.Split(r.key.Sign(t, r.claims()), ".")
	swapped := part(payload(t, r.claims().With("repository", "acme/infra-2")))
	stranger := oidctest.NewKey(t, "first", jose.ES256)
	rsa := oidctest.NewKey(t, "first", jose.RS256)
	twice := strings.Replace(payload(t, r.claims()), "{", `{"repository":"evil/repo",`, 1)
	for name, token := range map[string]string{
		"swapped payload":            good[0] + "." + swapped + "." + good[2],
		"no signature":               good[0] + "." + good[1] + ".",
		"half a signature":           good[0] + "." + good[1] + "." + good[2][:len(good[2])/2],
		"zero signature":             good[0] + "." + good[1] + "." + part(strings.Repeat("\x00", 64)),
		"another's key, the same ID": stranger.Sign(t, r.claims()),
		"another kind of key":        rsa.Sign(t, r.claims()),
		"claim given twice":          r.key.SignText(t, twice, nil),
		"not an object":              r.key.SignText(t, `["iss"]`, nil),
		"deep claims":                r.key.SignText(t, strings.Repeat(`{"a":`, 1000)+"1"+strings.Repeat("}", 1000), nil),
		"two objects":                r.key.SignText(t, payload(t, r.claims())+"{}", nil),
		"alg given twice":            part(`{"alg":"none","alg":"ES256","kid":"first"}`) + "." + good[1] + "." + good[2],
		"standard base64":            good[0] + "." + good[1] + "=." + good[2],
		"unknown critical header": r.key.SignText(t, payload(t, r.claims()),
			map[jose.HeaderKey]any{"crit": []string{"x"}, "x": 1}),
		"four parts": strings.Join(good, ".") + ".x",
		"JSON": `{"payload":"` + good[1] + `","protected":"` + good[0] + `","signature":"` + good[2] +
			`"}`,
	} {
		t.Run(name, func(t *testing.T) { r.mustFail(t, token, fault.TokenRefused, "the token is refused: it") })
	}
	r.mustPass(t, strings.Join(good, "."))
}

// Vulnerability: a token that brings, or tells where to find, the key to check it with.
func TestHeadersBringNoKey(t *testing.T) {
	r := newRig(t)
	var asked atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer trap.Close()
	stranger := oidctest.NewKey(t, "", jose.ES256)
	public := stranger.Public()
	public.KeyID = "first"
	for name, header := range map[string]map[jose.HeaderKey]any{
		"jwk":       {"jwk": public, "kid": "first"},
		"jku":       {"jku": trap.URL + "/jwks", "kid": "first"},
		"x5u":       {"x5u": trap.URL + "/cert", "kid": "first"},
		"no kid":    {},
		"file":      {"kid": "../../../../dev/null"},
		"address":   {"kid": trap.URL},
		"SQL":       {"kid": "x' UNION SELECT 'key"},
		"kid empty": {"kid": ""},
	} {
		t.Run(name, func(t *testing.T) {
			r.mustFail(t, stranger.SignText(t, payload(t, r.claims()), header), fault.TokenRefused, "the token is refused: it")
		})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the address in a header was asked %d times", n)
	}
}

func TestLongTokens(t *testing.T) {
	r := newRig(t)
	fits := r.key.Sign(t, r.claims().With("x", strings.Repeat("x", 5000)))
	r.mustPass(t, fits)
	for _, length := range []int{6500, 100_000, 10 << 20} {
		r.mustFail(t, r.key.Sign(t, r.claims().With("x", strings.Repeat("x", length))), fault.TokenRefused,
			"longer than 8192 bytes")
	}
}

func TestNothingShowsTokens(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims().With("ref", "x"))
	_, err := r.login(token)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, fault.From(err)), r.log.String()} {
		for _, secret := range strings.Split(token, ".") {
			if strings.Contains(text, secret) {
				t.Errorf("%q shows a part of the token", text)
			}
		}
	}
}
