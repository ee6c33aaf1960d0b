package keyservice

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
)

// googleKMS is Google's Cloud Key Management Service.
type googleKMS struct {
	asker
	o      Options
	at     string
	tokens string // where the machine's are
}

// newGoogle takes as key its resource name.
func newGoogle(o Options, client *http.Client, at string) (*googleKMS, error) {
	if !strings.HasPrefix(o.Key, "projects/") || strings.ContainsAny(o.Key, "?#: ") {
		return nil, errors.New("seal.key: it is a key's resource name, projects/P/locations/L/keyRings/R/cryptoKeys/K")
	}
	host := cmp.Or(o.Getenv("GCE_METADATA_HOST"), "metadata.google.internal")
	return &googleKMS{asker: newAsker(client, "Google's Cloud KMS"), o: o,
		at:     cmp.Or(at, "https://cloudkms.googleapis.com") + "/v1/" + o.Key,
		tokens: "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token"}, nil
}

// Name implements seal.Keeper.
func (k *googleKMS) Name() string { return Google }

// Wrap implements seal.Keeper.
func (k *googleKMS) Wrap(ctx context.Context, key []byte) (string, error) {
	var found struct {
		Ciphertext string `json:"ciphertext"`
	}
	err := k.call(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(key)}, &found)
	return found.Ciphertext, err
}

// Unwrap implements seal.Keeper.
func (k *googleKMS) Unwrap(ctx context.Context, wrapped string) ([]byte, error) {
	var found struct {
		Plaintext string `json:"plaintext"`
	}
	if err := k.call(ctx, "decrypt", map[string]string{"ciphertext": wrapped}, &found); err != nil {
		return nil, err
	}
	return decoded(base64.StdEncoding, found.Plaintext, k.what)
}

// Rewrap implements seal.Keeper. The service has no operation for it.
func (k *googleKMS) Rewrap(ctx context.Context, wrapped string) (string, error) {
	return again(ctx, k, wrapped)
}

func (k *googleKMS) call(ctx context.Context, operation string, body map[string]string, found any) error {
	token, err := k.bearer(ctx, k.o.TokenFile, k.tokens, "Metadata-Flavor", "Google")
	if err != nil {
		return err
	}
	return k.ask(ctx, operation+" with the key "+k.o.Key, found, func() (*http.Request, error) {
		request, _, err := posted(k.at+":"+operation, body, map[string]string{"Authorization": "Bearer " + token})
		return request, err
	})
}
