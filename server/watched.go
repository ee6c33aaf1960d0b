package server

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"os"
	"sync"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlstanding"
)

// standingKept is for how long what was counted is good: strangers may ask for the metrics.
const standingKept = 10 * time.Second

// countStanding counts what there is, once for all who ask at a time; nil without a database.
func countStanding(db *sqldb.DB, now func() time.Time) func(context.Context) (vitals.Standing, error) {
	if db == nil {
		return nil
	}
	var mu sync.Mutex
	var counted vitals.Standing
	var at time.Time
	return func(ctx context.Context) (vitals.Standing, error) {
		mu.Lock()
		defer mu.Unlock()
		if age := now().Sub(at); !at.IsZero() && age >= 0 && age < standingKept {
			return counted, nil
		}
		found, err := sqlstanding.Count(ctx, db, now())
		if err == nil {
			counted, at = found, now()
		}
		return found, err
	}
}

// upkeepOf says when the last backup was made of the folder that settings name, and when their certificate expires.
func upkeepOf(settings configs.Settings) func() handlers.Upkeep {
	return func() (is handlers.Upkeep) {
		is.Backup = folder.BackedUp(settings.Storage.Path)
		if !settings.Server.EnableTLS {
			return is
		}
		text, err := os.ReadFile(settings.Server.TLSCertFile)
		if block, _ := pem.Decode(text); err == nil && block != nil {
			if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
				is.Certificate = certificate.NotAfter
			}
		}
		return is
	}
}
