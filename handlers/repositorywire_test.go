package handlers_test

import (
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

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

// repositoryExamples are requests about repositories.
func repositoryExamples() []string {
	return []string{
		"DELETE /api/v1/repositories/infra",
		"DELETE /api/v1/repositories/none",
		"GET /api/v1/repositories",
		"GET /api/v1/repositories?limit=1",
		"400 GET /api/v1/repositories?x=1",
		"GET /api/v1/repositories/infra",
		"404 GET /api/v1/repositories/none",
		`PATCH /api/v1/repositories/infra {"poll":600,"api":"","submodules":true,"lfs":true}`,
		"404 PATCH /api/v1/repositories/none {}",
		`POST /api/v1/repositories {"name":"new","url":"git@git.example.com:x.git","credential":"deploy_key","key":` + wireDeployKey() + `,"api_token":"api-1","known_hosts":"git.example.com ` + wireHostKey + `"}`,
		`409 POST /api/v1/repositories {"name":"infra","url":"https://git.example.com/x.git"}`,
		`400 POST /api/v1/repositories {"name":"x","url":"ext::sh"}`,
		`400 POST /api/v1/repositories {"name":"-x"}`,
		"404 POST /api/v1/repositories/none/fetch",
		"409 POST /api/v1/repositories/infra/fetch",
		"POST /api/v1/repositories/infra/secret",
		"404 POST /api/v1/repositories/none/secret",
		"400 POST /webhooks/github/none {}",
		"404 POST /webhooks/github/11111111-1111-4111-8111-111111111111 {}",
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
