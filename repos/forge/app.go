package forge

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// App is a GitHub App, as whose installation in a repository requests are made.
type App struct {
	ID string // or the client ID
	// Installation is its number; 0 for the one that the repository is in.
	Installation int64
	Key          string // PEM, private
}

// installation is the credentials of an App's installation. Its token lasts an hour, and is asked for
// again shortly before that is over.
type installation struct {
	app    App
	key    *rsa.PrivateKey
	client *client // signs as the App itself
	repo   string

	mu    sync.Mutex
	token string
	until time.Time
	login User
}

// early is how long before its end a token is used no more: requests take their time, and clocks differ.
const early = 5 * time.Minute

func newInstallation(app App, c *client, repo string) (*installation, error) {
	key, err := privateKey(app.Key)
	if err != nil {
		return nil, err
	}
	if app.ID == "" {
		return nil, errors.New("a GitHub App has an ID")
	}
	i := &installation{app: app, key: key, repo: repo}
	as := *c
	as.credentials = appItself{i, c.now}
	i.client = &as
	return i, nil
}

// privateKey reads a key as GitHub gives one out, or as other tools write it.
func privateKey(text string) (*rsa.PrivateKey, error) {
	wrong := errors.New("the key of a GitHub App is a private RSA key in PEM")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, wrong
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if own, ok := key.(*rsa.PrivateKey); err == nil && ok {
		return own, nil
	}
	return nil, wrong
}

// Token returns one that counts for some minutes at least.
func (i *installation) Token(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token != "" && i.client.now().Before(i.until.Add(-early)) {
		return i.token, nil
	}
	number := i.app.Installation
	if number == 0 {
		var found struct {
			ID int64 `json:"id"`
		}
		if _, err := i.client.get(ctx, i.repo+"/installation", nil, &found); err != nil {
			return "", err
		}
		number = found.ID
	}
	var made struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(i.repo, "/repos/"), "/")
	only := struct {
		Repositories []string `json:"repositories"`
	}{[]string{name}}
	err := i.client.send(ctx, http.MethodPost, "/app/installations/"+id(number)+"/access_tokens", only, &made)
	if err == nil && made.Token == "" {
		err = i.client.unlike("it gave no token")
	}
	if err != nil {
		return "", err
	}
	i.token, i.until, i.app.Installation = made.Token, made.ExpiresAt, number
	return i.token, nil
}

func (i *installation) sign(ctx context.Context, to *http.Request) error {
	token, err := i.Token(ctx)
	if err == nil {
		to.Header.Set("Authorization", "Bearer "+token)
	}
	return err
}

func (i *installation) secrets() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token == "" {
		return nil
	}
	return []string{i.token}
}

// refused forgets the token: it was taken back, and another one may do.
func (i *installation) refused() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.token = ""
}

// self is the user as whom an App comments.
func (i *installation) self(ctx context.Context) (User, error) {
	i.mu.Lock()
	known := i.login
	i.mu.Unlock()
	if known.ID != "" {
		return known, nil
	}
	var app struct {
		Slug string `json:"slug"`
	}
	if _, err := i.client.get(ctx, "/app", nil, &app); err != nil {
		return User{}, err
	}
	var u hubUser
	if _, err := i.client.get(ctx, "/users/"+app.Slug+"%5Bbot%5D", nil, &u); err != nil {
		return User{}, gone(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.login = u.user()
	return i.login, nil
}

// appItself is the credentials of an App, which may do little more than ask for a token.
type appItself struct {
	*installation
	now func() time.Time
}

func (a appItself) sign(_ context.Context, to *http.Request) error {
	token, err := a.assertion(a.now())
	if err == nil {
		to.Header.Set("Authorization", "Bearer "+token)
	}
	return err
}

func (a appItself) secrets() []string { return nil } // what it signs is over in minutes, and never repeated
func (a appItself) refused()          {}

// assertion is a JWT of RS256, from a minute ago, for clocks that are behind, for less than ten minutes.
func (i *installation) assertion(now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{
		"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(9 * time.Minute).Unix(), "iss": i.app.ID,
	})
	if err != nil {
		return "", err
	}
	encoding := base64.RawURLEncoding
	text := encoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + encoding.EncodeToString(signature), nil
}
