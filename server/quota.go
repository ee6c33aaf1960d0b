package server

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/disk"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/state"
)

// newKeeper returns who says what organizations may store.
func newKeeper(settings configs.Settings, keys *authfile.Watcher, states state.Store, uploads inventory.Store,
	log *slog.Logger) *quota.Keeper {
	sources := []quota.Source{
		{Kind: quota.States, Store: states, Elsewhere: settings.State.Storage != configs.SQLite},
		{Kind: quota.Uploads, Store: uploads, Elsewhere: configs.OnServer(settings.Storage.Type) ||
			settings.Storage.Type == configs.Memory},
	}
	o := quota.Options{
		Sources:   sources,
		Limit:     func(org uuid.UUID) int64 { return limitOf(keys, org, settings.Limits.Quota) },
		Reserve:   settings.Limits.DiskReserve,
		Overdraft: settings.State.MaxBytes,
		Now:       time.Now,
		Log:       log,
		Warned: func(ctx context.Context, org uuid.UUID, s quota.Standing) {
			recordWarning(context.WithoutCancel(ctx), states, org, s, log)
		},
	}
	if !sources[0].Elsewhere || !sources[1].Elsewhere {
		folders := []string{settings.Storage.Path}
		if settings.Storage.Type == configs.Dual {
			folders = append(folders, settings.Storage.OutboxPath)
		}
		o.Free = func() (int64, error) { return disk.Free(folders...) }
	}
	return quota.New(o)
}

// limitOf is what quotaOf says. A limit that follows the disk is there for the sake of the
// others: an organization that has the server to itself has none.
func limitOf(keys *authfile.Watcher, org uuid.UUID, usual int64) int64 {
	limit := quotaOf(keys.Quota(org), usual)
	if limit == quota.Auto && keys.IsOnly(org) {
		return quota.None
	}
	return limit
}

// quotaOf is an organization's own quota, or else the usual one.
func quotaOf(own, usual int64) int64 {
	if own == 0 {
		own = usual
	}
	switch own {
	case auth.Unlimited:
		return quota.None
	case configs.AutoQuota:
		return quota.Auto
	}
	return own
}

// recordWarning puts into an organization's own log that it comes near its quota.
func recordWarning(ctx context.Context, states state.Store, org uuid.UUID, s quota.Standing, log *slog.Logger) {
	event := audit.Event{At: time.Now(), Org: org, Actor: audit.Server(), Action: audit.QuotaNear,
		Note: fmt.Sprintf("%s of %s", humanize.IBytes(uint64(s.Used)), humanize.IBytes(uint64(s.Limit)))}
	if err := states.Record(ctx, event); err != nil {
		log.WarnContext(ctx, "that an organization comes near its quota was not recorded", "org", org.String(), "error", err)
	}
}
