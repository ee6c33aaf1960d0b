package keyservice

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// transit is the secrets engine of that name of HashiCorp Vault and OpenBao.
type transit struct {
	asker
	o          Options
	at         string // with the mount's path
	key, token string
}

// newTransit takes as key the mount's path and the key's name, such as transit/holdfast.
func newTransit(o Options, client *http.Client, at string) (*transit, error) {
	mount, key := path.Split(strings.Trim(o.Key, "/"))
	if mount = strings.Trim(mount, "/"); mount == "" || key == "" {
		return nil, errors.New("seal.key: it is the mount's path and the key's name, such as transit/holdfast")
	}
	at = cmp.Or(at, strings.TrimRight(cmp.Or(o.Getenv("VAULT_ADDR"), o.Getenv("BAO_ADDR")), "/"))
	if at == "" {
		return nil, errors.New("seal.key_address has to say where Vault or OpenBao is, such as " +
			"https://vault.example.com:8200")
	}
	o.Namespace = cmp.Or(o.Namespace, o.Getenv("VAULT_NAMESPACE"), o.Getenv("BAO_NAMESPACE"))
	return &transit{asker: newAsker(client, "Transit at "+at), o: o,
		at:  at + "/v1/" + (&url.URL{Path: mount}).EscapedPath(),
		key: url.PathEscape(key), token: cmp.Or(o.Getenv("VAULT_TOKEN"), o.Getenv("BAO_TOKEN"))}, nil
}

// transitAnswer is what the three operations answer with.
type transitAnswer struct {
	Data struct {
		Ciphertext string `json:"ciphertext"`
		Plaintext  string `json:"plaintext"`
	} `json:"data"`
}

// Name implements seal.Keeper.
func (t *transit) Name() string { return Transit }

// Wrap implements seal.Keeper.
func (t *transit) Wrap(ctx context.Context, key []byte) (string, error) {
	found, err := t.call(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(key)})
	return found.Data.Ciphertext, err
}

// Unwrap implements seal.Keeper.
func (t *transit) Unwrap(ctx context.Context, wrapped string) ([]byte, error) {
	found, err := t.call(ctx, "decrypt", map[string]string{"ciphertext": wrapped})
	if err != nil {
		return nil, err
	}
	return decoded(base64.StdEncoding, found.Data.Plaintext, t.what)
}

// Rewrap implements seal.Keeper.
func (t *transit) Rewrap(ctx context.Context, wrapped string) (string, error) {
	found, err := t.call(ctx, "rewrap", map[string]string{"ciphertext": wrapped})
	return found.Data.Ciphertext, err
}

func (t *transit) call(ctx context.Context, operation string, body map[string]string) (found transitAnswer, err error) {
	err = t.ask(ctx, operation+" with the key "+t.o.Key, &found, func() (*http.Request, error) {
		token, err := t.token, error(nil)
		if t.o.TokenFile != "" {
			token, err = tokenIn(t.o.TokenFile)
		}
		if err == nil && token == "" {
			err = errors.New("there is no token: seal.key_token_file or VAULT_TOKEN has it")
		}
		if err != nil {
			return nil, err
		}
		request, _, err := posted(t.at+"/"+operation+"/"+t.key, body, map[string]string{
			"X-Vault-Token": token, "X-Vault-Request": "true", "X-Vault-Namespace": t.o.Namespace})
		return request, err
	})
	return found, err
}

// decoded is what a service has sent in base64. The error quotes nothing of it.
func decoded(by *base64.Encoding, text, whose string) ([]byte, error) {
	raw, err := by.DecodeString(text)
	if err != nil {
		return nil, errors.New(whose + " has answered with something else than base64")
	}
	return raw, nil
}
