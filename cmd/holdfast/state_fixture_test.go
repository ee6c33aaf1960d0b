package main

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// onePolicy is every organization's.
type onePolicy struct{ policy state.Policy }

func (p onePolicy) Policy(uuid.UUID, string) state.Policy { return p.policy }

// keeping starts a server that keeps states by a policy, and gives the shell what a client
// needs.
func (s *shell) keeping(policy state.Policy) *httptest.Server {
	s.t.Helper()
	return s.keepingWithin(policy, func(state.Store) *quota.Keeper { return nil })
}

// keepingWithin is keeping with a keeper of the store.
func (s *shell) keepingWithin(policy state.Policy, keeper func(state.Store) *quota.Keeper) *httptest.Server {
	s.t.Helper()
	store := memory.New(1 << 20)
	key := auth.NewKey(acme)
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States:     state.NewService(store, onePolicy{policy}, time.Now, log).WithQuota(keeper(store)),
		Inventory:  inventory.NewService(inventory.Off{}),
		Workspaces: s.workspaces(store), Verifier: oneKey{key}, Log: log, Now: time.Now, MaxStateBytes: 1 << 20,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.asking(router, key)
}

// workspaces are kept in memory.
func (s *shell) workspaces(record audit.Recorder) *workspace.Service {
	s.t.Helper()
	db, err := sqldb.Open(s.t.Context(), sqldb.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	sealer := seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	return workspace.NewService(workspace.Deps{
		Store: sqlworkspace.New(db, sealer, time.Now), Gate: audit.NewGate(record, time.Now), Audit: record,
		Seals: sealer, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// network is a state with one resource for each size, and an output.
func network(serial int, sizes ...string) string {
	var resources []string
	for i, size := range sizes {
		resources = append(resources,
			fmt.Sprintf(`{"mode":"managed","type":"aws_vpc","name":"net%d","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]",
   "instances":[{"schema_version":0,"attributes":{"id":"vpc-%d","size":%q},"sensitive_attributes":[]}]}`, i, i, size))
	}
	return fmt.Sprintf(`{"version":4,"terraform_version":"1.9.0","serial":%d,"lineage":"5ad8",
 "outputs":{"size":{"value":%q,"type":"string"},"password":{"value":"hunter2","type":"string","sensitive":true}},
 "resources":[%s],"check_results":null}
`, serial, strings.Join(sizes, "+"), strings.Join(resources, ",\n  "))
}

// push stores a state, whatever was there.
func (s *shell) push(name, body string) {
	s.t.Helper()
	s.must("state", "push", name, s.write("pushed.tfstate", body), "--force")
}
