package client_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

var acme = uuid.MustParse("11111111-2222-3333-4444-555555555555")

const key = "a key"

// oneKey is a verifier that knows one key.
type oneKey struct{}

func (oneKey) Verify(_ context.Context, given auth.Credentials, from auth.Client) (auth.Principal, error) {
	if given != (auth.Credentials{Org: acme, Key: key}) {
		return auth.Principal{}, fault.New(fault.CredentialsWrong, "the organization or the key is wrong")
	}
	return auth.Principal{Org: acme, OrgName: "Acme", KeyID: "k1", KeyName: "ci", Grant: auth.Grant{Role: auth.Owner},
		Address: from.Address, Request: from.Request}, nil
}

// serve starts a real server that keeps everything in memory, and returns its client.
func serve() (c *client.Client, stop func()) {
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States:    state.NewService(memory.New(1<<20), state.DefaultPolicies{}, time.Now, log),
		Inventory: inventory.NewService(inventorytest.New()),
		Verifier:  oneKey{}, Log: log, Now: time.Now, Version: "test", MaxStateBytes: 1 << 20,
	})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(router)
	return client.New(client.Options{Address: server.URL, Org: acme, Key: key}), server.Close
}
