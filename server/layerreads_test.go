package server

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// What a layer says of the states whose outputs its runs may read is its workspace's, if whoever makes or accepts the
// layer may read these outputs. A layer that says nothing of it leaves what there is.
func TestLayersSetReads(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	events := memory.New(1 << 20)
	t.Cleanup(func() { _ = events.Close() })
	sealer := seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	service := workspace.NewService(workspace.Deps{Store: sqlworkspace.New(db, sealer, time.Now), Audit: events,
		Seals: sealer, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	ws := layerWorkspaces{service}
	owner := auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	operator := owner
	operator.Role = auth.Operator
	for _, c := range []struct {
		by    auth.Principal
		reads []string
		want  []string
		code  fault.Code
	}{
		{owner, []string{"network"}, []string{"network"}, ""},
		{operator, nil, []string{"network"}, ""},
		{operator, []string{"network", "dns"}, []string{"network"}, fault.RightMissing},
		{operator, []string{}, nil, ""},
	} {
		err := ws.Make(t.Context(), c.by, "app", layers.Tooling{Tool: "opentofu", Reads: c.reads}, "envs/app")
		if c.code == "" && err != nil || c.code != "" && !fault.Is(err, c.code) {
			t.Errorf("%s, %v: %v", c.by.Role, c.reads, err)
		}
		if got, err := service.Get(t.Context(), owner, "app"); err != nil || !slices.Equal(got.Settings.Reads, c.want) {
			t.Errorf("%s, %v: runs read %v, %v", c.by.Role, c.reads, got.Settings.Reads, err)
		}
	}
}
