package server

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/notices"
	"github.com/holdfast/holdfast/storage/sqlauth"
)

// openKeys reads the auth file, or what the database has of it, and follows its changes until the
// watcher is closed.
func openKeys(ctx context.Context, settings configs.Settings, shared *sqlauth.Store, tokens keyring.TokenVerifier,
	runs verify.RunVerifier, log *slog.Logger) (*verify.Verifier, *authfile.Watcher, error) {
	verifier, err := verify.New(verify.Config{
		Logger:            log,
		Remember:          settings.Auth.CacheTTL,
		RememberKeys:      settings.Auth.CacheEntries,
		FailuresPerMinute: settings.Nodes.Part(settings.Auth.FailuresPerMinute),
		Tokens:            tokens,
		Runs:              runs,
	})
	if err != nil {
		return nil, nil, err
	}
	from := authfile.WatchConfig{Path: settings.Auth.File, Use: verifier.Use, Logger: log}
	if settings.Auth.Source == configs.AuthDatabase {
		from.Path, from.Revisions = AuthDatabaseName(settings), shared
	}
	watcher, err := authfile.Watch(ctx, from)
	if err == nil {
		verifier.TrustWhile(func() error { return confirmed(watcher) })
	}
	return verifier, watcher, err
}

// confirmed has an error when nobody could say for too long whether what is in force is the newest: a key may
// have been revoked elsewhere, by somebody who waits no longer for this node.
func confirmed(watcher *authfile.Watcher) error {
	if watcher.Unconfirmed() <= copies.Unconfirmed {
		return nil
	}
	f := fault.New(fault.StoreUnavailable, "the database can't be asked whether keys are still good; try again")
	f.RetryAfter = 2 * time.Second
	return f
}

// AuthDatabaseName is how people are told of the auth.cfg in the database.
func AuthDatabaseName(settings configs.Settings) string {
	return "auth.cfg in the database " + storage.DatabaseName(settings.Database)
}

// openShared opens what nodes tell one another. It stays nil where they have no database in common.
func (p *parts) openShared(ctx context.Context) (err error) {
	if !storage.SharesDatabase(p.settings) {
		return nil
	}
	db, err := storage.OpenShared(ctx, p.settings, p.settings.Database.StartupWait, p.log)
	if err != nil {
		return err
	}
	p.closeLater("what nodes tell one another", db)
	master, err := storage.MarkingMaster(ctx, p.settings)
	if err != nil {
		return err
	}
	p.shared, p.turns = sqlauth.New(db, master), notices.New(db, p.node, p.log)
	return nil
}

// compareKeys tells other nodes which auth.cfg is in force here, and looks whether they have a
// newer one, until the parts are closed.
func (p *parts) compareKeys(ctx context.Context) {
	if p.shared == nil {
		return
	}
	name := nodeName(p.settings)
	p.copies = copies.New(ctx, copies.Config{Board: p.shared, Log: p.log, Own: func() copies.Copy {
		taken := p.watcher.Taken()
		return copies.Copy{Node: p.node.String(), Name: name, Revision: taken.Revision, Digest: taken.Digest, At: taken.At,
			Shredded: p.shreddedHere()}
	}})
	p.closeLater("what other nodes are told of auth.cfg", p.copies)
}

// shreddedHere is which orders this node has carried out, for those who wait for all nodes.
func (p *parts) shreddedHere() string {
	var done []string
	for _, order := range p.orders() {
		if has, err := p.receipts.Has(order); err == nil && has {
			done = append(done, copies.Order(order.Org, order.At))
		}
	}
	return strings.Join(done, " ")
}

// nodeName is how people tell this node from others.
func nodeName(settings configs.Settings) string {
	host, err := os.Hostname()
	if err != nil {
		host = settings.Server.Host
	}
	return net.JoinHostPort(host, strconv.Itoa(settings.Server.Port))
}

// authStale says in words why the auth.cfg in force here may not be the newest; empty when it is.
func (p *parts) authStale() string {
	if p.copies == nil {
		return ""
	}
	return cmp.Or(p.watcher.Trouble(), p.copies.Stale())
}

// confirmKeys lets commands that change auth.cfg wait until this server has taken it: by the
// receipt of a file, and by what other nodes are told.
func (p *parts) confirmKeys(ctx context.Context) io.Closer {
	receipt := p.openReceipt(ctx)
	p.watcher.Confirm(func(digest string) {
		if p.copies != nil {
			p.copies.Soon()
		}
		if receipt == nil {
			return
		}
		if err := receipt.Write(digest); err != nil {
			p.log.Warn("commands that change the auth file wait in vain for this server", "error", err)
		}
	})
	return receipted{p.watcher, receipt}
}

// openReceipt returns nil where no command waits for one: for the database's auth.cfg, or without a
// folder of data, where there is nothing to write it into, and nobody who would find it.
func (p *parts) openReceipt(ctx context.Context) *authfile.Receipt {
	if keepsNothing(p.settings) || p.settings.Auth.Source == configs.AuthDatabase {
		return nil
	}
	receipt, err := authfile.OpenReceipt(ctx, ReceiptPath(p.settings))
	if err != nil {
		p.log.WarnContext(ctx, "commands that change the auth file can't wait for this server", "error", err)
		return nil
	}
	return receipt
}

// receipted is a watcher that writes a receipt, if there is one.
type receipted struct {
	watcher *authfile.Watcher
	receipt *authfile.Receipt
}

// Close ends that. The watcher goes on.
func (c receipted) Close() error {
	c.watcher.Confirm(func(string) {})
	if c.receipt == nil {
		return nil
	}
	return c.receipt.Close()
}

// ReceiptPath is where a server with these settings says which auth file it has taken.
func ReceiptPath(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, authfile.ReceiptName)
}

// keyEdits edits keys for those who ask the server to.
func (p *parts) keyEdits() *keys.Service {
	source := authfile.InFile(p.settings.Auth.File)
	if p.settings.Auth.Source == configs.AuthDatabase {
		source = authfile.InDatabase(p.shared, AuthDatabaseName(p.settings), "the server "+nodeName(p.settings))
	}
	return keys.NewService(keys.Deps{
		Edit: source.Edit,
		Take: p.watcher.Reload, InForce: p.verifier.Keyring, Said: p.watcher.Settings,
		Gate: p.gate, Audit: p.states, Now: time.Now,
	})
}
