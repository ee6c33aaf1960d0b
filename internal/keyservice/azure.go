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

// azureVault is a key of Azure's Key Vault.
type azureVault struct {
	asker
	o      Options
	tokens string // where the machine's are
}

const (
	azureVersion   = "?api-version=7.4"
	azureAlgorithm = "RSA-OAEP-256"
)

// newAzure takes as key its address, with or without a version.
func newAzure(o Options, client *http.Client, at string) (*azureVault, error) {
	u, err := url.Parse(o.Key)
	if err != nil || u.Host == "" || u.RawQuery != "" || !strings.HasPrefix(u.Path, "/keys/") ||
		strings.Count(u.Path, "/") > 3 {
		return nil, errors.New("seal.key: it is a key's address, https://NAME.vault.azure.net/keys/KEY")
	}
	if u.Scheme != "https" && at == "" {
		return nil, errors.New("seal.key: the key's address has to begin with https://")
	}
	tokens := cmp.Or(at, "http://169.254.169.254") + "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=" +
		url.QueryEscape("https://vault.azure.net")
	return &azureVault{asker: newAsker(client, "Azure's Key Vault"), o: o, tokens: tokens}, nil
}

// azureAnswer is what both operations answer with.
type azureAnswer struct {
	KeyID string `json:"kid"`
	Value string `json:"value"`
}

// Name implements seal.Keeper.
func (k *azureVault) Name() string { return Azure }

// Wrap implements seal.Keeper. The key's version goes along: another one unwraps nothing.
func (k *azureVault) Wrap(ctx context.Context, key []byte) (string, error) {
	found, err := k.call(ctx, "wrapkey", k.o.Key, base64.RawURLEncoding.EncodeToString(key))
	return path.Base(found.KeyID) + "." + found.Value, err
}

// Unwrap implements seal.Keeper.
func (k *azureVault) Unwrap(ctx context.Context, wrapped string) ([]byte, error) {
	version, value, found := strings.Cut(wrapped, ".")
	if !found || strings.ContainsAny(version, "/?#") {
		return nil, errors.New("there is no version of Azure's key before what it has wrapped")
	}
	u, err := url.Parse(k.o.Key)
	if err != nil {
		return nil, err
	}
	u.Path = "/keys/" + strings.Split(u.Path, "/")[2] + "/" + version
	answer, err := k.call(ctx, "unwrapkey", u.String(), value)
	if err != nil {
		return nil, err
	}
	return decoded(base64.RawURLEncoding, answer.Value, k.what)
}

// Rewrap implements seal.Keeper. The service has no operation for it.
func (k *azureVault) Rewrap(ctx context.Context, wrapped string) (string, error) {
	return again(ctx, k, wrapped)
}

func (k *azureVault) call(ctx context.Context, operation, key, value string) (found azureAnswer, err error) {
	token, err := k.bearer(ctx, k.o.TokenFile, k.tokens, "Metadata", "true")
	if err != nil {
		return found, err
	}
	err = k.ask(ctx, operation+" with the key "+k.o.Key, &found, func() (*http.Request, error) {
		request, _, err := posted(strings.TrimRight(key, "/")+"/"+operation+azureVersion,
			map[string]string{"alg": azureAlgorithm, "value": value}, map[string]string{"Authorization": "Bearer " + token})
		return request, err
	})
	return found, err
}
