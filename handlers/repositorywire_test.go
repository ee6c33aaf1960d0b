package handlers_test

import (
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/repos"
)

// fillRepositories has one of the repositories fetched well.
func fillRepositories(t *testing.T, service *repos.Service) {
	t.Helper()
	r, err := service.Store.Repository(t.Context(), acme, "app")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	err = service.Store.Finish(t.Context(), repos.Finished{Org: acme, ID: r.ID, Began: at, Status: repos.Status{
		Fetched: at, Tried: at, Bytes: 4096, Heads: map[string]string{"main": "89abcdef0123456789abcdef0123456789abcdef"}}})
	if err != nil {
		t.Fatal(err)
	}
}

// repositoryAnswers are those about repositories.
func repositoryAnswers() map[string][]answered {
	const all, one, none = "/api/v1/repositories/:repository", "/api/v1/repositories/infra", "/api/v1/repositories/none"
	return map[string][]answered{
		"GET /api/v1/repositories": slices.Concat(says(api.Repositories{}, "/api/v1/repositories",
			"/api/v1/repositories?limit=1"), refuses(400, "/api/v1/repositories?x=1")),
		"POST /api/v1/repositories": slices.Concat(answers(201, api.Repository{},
			[]string{`/api/v1/repositories {"name":"new","url":"git@git.example.com:x.git","credential":"deploy_key","key":` +
				wireDeployKey() + `,"api_token":"api-1","known_hosts":"git.example.com ` + wireHostKey + `"}`}),
			refuses(409, `/api/v1/repositories {"name":"infra","url":"https://git.example.com/x.git"}`),
			refuses(400, `/api/v1/repositories {"name":"x","url":"ext::sh"}`, `/api/v1/repositories {"name":"-x"}`)),
		"GET " + all:    slices.Concat(says(api.Repository{}, one), refuses(404, none)),
		"PATCH " + all:  slices.Concat(says(api.Repository{}, one+` {"poll":600,"api":"","submodules":true,"lfs":true}`), refuses(404, none+" {}")),
		"DELETE " + all: says(api.Done{}, one, none),
		"POST " + all + "/fetch": slices.Concat(refuses(404, none+"/fetch"),
			refuses(409, one+"/fetch")), // its host is in a private network
		"POST " + all + "/secret": slices.Concat(says(api.Repository{}, one+"/secret"), refuses(404, none+"/secret")),
		"POST /webhooks/:provider/:repository": append(refuses(400, "/webhooks/github/none {}"),
			refuses(404, "/webhooks/github/11111111-1111-4111-8111-111111111111 {}")...),
	}
}

const wireHostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

// wireDeployKey is a new key of ssh, as JSON.
func wireDeployKey() string {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(string(pem.EncodeToMemory(block)))
	if err != nil {
		panic(err)
	}
	return string(text)
}
