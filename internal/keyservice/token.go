package keyservice

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/holdfast/holdfast/seal"
)

// bearer returns what a cloud's service is shown: the token of a file, or else the one that the cloud gives to the
// machine, which it does to who sends the header.
func (a asker) bearer(ctx context.Context, file, at, header, value string) (string, error) {
	if file != "" {
		return tokenIn(file)
	}
	var found struct {
		AccessToken string `json:"access_token"`
	}
	machine := a
	machine.what = "the machine's identity"
	err := machine.ask(ctx, "be had (seal.key_token_file names another)", &found, func() (*http.Request, error) {
		request, err := http.NewRequest(http.MethodGet, at, nil)
		if err == nil {
			request.Header.Set(header, value)
		}
		return request, err
	})
	if err == nil && found.AccessToken == "" {
		err = errors.New("the machine's identity came without a token")
	}
	return found.AccessToken, err
}

// besideMachine is a proxy for everything but what the cloud tells this machine alone: asked through another one, it
// would be who that one is, and that one would read it.
func besideMachine(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if r.Header.Get("Metadata") != "" || r.Header.Get("Metadata-Flavor") != "" {
			return nil, nil
		}
		return proxy(r)
	}
}

// again wraps by a service that has no operation for doing it anew.
func again(ctx context.Context, by seal.Keeper, wrapped string) (string, error) {
	key, err := by.Unwrap(ctx, wrapped)
	if err != nil {
		return "", err
	}
	return by.Wrap(ctx, key)
}
