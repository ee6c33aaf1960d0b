package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/inventory/transfer"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/csv"
	"github.com/holdfast/holdfast/storage/memory"
)

var (
	acme   = uuid.MustParse(someOrg)
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	moment = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
)

// report is an upload of one resource, so long after moment.
func report(org uuid.UUID, after time.Duration, name, attributes string) inventory.Batch {
	return inventory.Batch{ID: uuid.NewString(), Org: org, Request: "r", At: moment.Add(after),
		Resources: []inventory.Resource{
			{Provider: "aws", Category: "compute", ResourceType: "vm_instance", ResourceName: name,
				Attributes: []byte(attributes)},
		}}
}

func upload(t *testing.T, store inventory.Store, batches ...inventory.Batch) {
	t.Helper()
	for _, b := range batches {
		if _, err := store.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// oneKey lets in the holder of the test's key.
type oneKey struct{ key string }

func (k oneKey) Verify(_ context.Context, given auth.Credentials, from auth.Client) (auth.Principal, error) {
	if given.Key != k.key {
		return auth.Principal{}, fault.New(fault.CredentialsWrong, "the organization or the key is wrong")
	}
	return auth.Principal{Org: given.Org, Request: from.Request, Grant: auth.Grant{Role: auth.Owner}}, nil
}

// serving starts a server on the store, and gives the shell what a client needs.
func (s *shell) serving(store inventory.Store) *httptest.Server {
	s.t.Helper()
	key := auth.NewKey(acme)
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States:    state.NewService(memory.New(1<<20), state.DefaultPolicies{}, time.Now, log),
		Inventory: inventory.NewService(store),
		Verifier:  oneKey{key}, Log: log, Now: time.Now, MaxStateBytes: 1 << 20,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.asking(router, key)
}

// asking starts a server that may be anything.
func (s *shell) asking(handler http.Handler, key string) *httptest.Server {
	server := httptest.NewServer(handler)
	s.t.Cleanup(server.Close)
	s.environ = append(s.environ, "HOLDFAST_ADDR="+server.URL, "HOLDFAST_KEY="+key)
	return server
}

// reports is a store with three records of Acme's and one of Globex's.
func reports(t *testing.T) inventory.Store {
	store := inventorytest.New()
	t.Cleanup(func() { _ = store.Close() })
	upload(t, store, someReports()...)
	return store
}

func someReports() []inventory.Batch {
	return []inventory.Batch{
		report(acme, 0, "web-1", `{"size":"t2.micro","id":9007199254740993}`),
		report(acme, time.Hour, "=f(\"x\"),\r\n\x1b[2J", `{"size":"<&>"}`),
		report(acme, 2*time.Hour, "web-3", `{"size":"t2.micro"}`),
		report(globex, time.Hour, "secret", `{}`),
	}
}

// folder makes a CSV store with these reports, and has the shell's settings name it.
func (s *shell) folder(batches ...inventory.Batch) string {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "data")
	store := s.openCSV(dir)
	upload(s.t, store, batches...)
	if err := store.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.environ = append([]string{"STORAGE_PATH=" + dir}, s.environ...)
	return dir
}

func (s *shell) openCSV(dir string) inventory.Store {
	s.t.Helper()
	store, err := csv.Open(s.t.Context(), csv.Options{Dir: dir})
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// extents is what each organization has in the CSV store of a folder.
func (s *shell) extents(dir string) string {
	s.t.Helper()
	store := s.openCSV(dir)
	defer store.Close()
	return extentsOf(s.t, store)
}

func extentsOf(t *testing.T, store inventory.Store) string {
	t.Helper()
	var all strings.Builder
	for org, err := range store.Organizations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		extent, err := transfer.Measure(t.Context(), store, org, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, org, extent.Count, extent.SHA256)
	}
	return all.String()
}

func (s *shell) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}
