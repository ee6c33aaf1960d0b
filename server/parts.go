package server

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/shred"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/internal/webhook"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/live"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/oidc"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/notices"
	"github.com/holdfast/holdfast/storage/sqlauth"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/workspace"
)

// parts are what a server stands on.
type parts struct {
	settings configs.Settings
	log      *slog.Logger
	closers  []func()

	tls       *tls.Config // nil without TLS
	verifier  *verify.Verifier
	watcher   *authfile.Watcher
	shared    *sqlauth.Store // nil where nodes share no database
	copies    *copies.Watch  // likewise
	turns     *notices.Store // likewise
	node      uuid.UUID      // of this process alone
	program   Program
	states    state.Store
	uploads   inventory.Store
	memory    *budget.Budget
	doors     *middleware.Doors
	uses      keyUses
	receipts  shred.Receipts // of shredded organizations
	gate      *audit.Gate
	reads     *audit.Reads // and uploads
	keeper    *quota.Keeper
	traces    *spans.Requests // nil where nobody asks for them
	service   *state.Service
	catalogue *catalogue
	inventory *inventory.Service
	notifier  *webhook.Notifier
	live      *live.Hub
	moves     *mover             // nil where nothing is moved while it is served
	freezers  []sqlitedb.Freezer // of what is written beside states and runs

	database      *sqldb.DB          // of workspaces and runs; nil for none
	sealer        *seal.Sealer       // nil with it
	sealing       sync.Mutex         // held by who seals states, or has a new master key wrap their keys
	workspaces    *workspace.Service // likewise
	repositories  *repos.Service     // likewise
	runs          *runs.Service      // likewise
	layers        *layers.Service    // likewise
	pulls         *pulls.Service     // likewise
	insights      *insight.Service   // likewise
	policies      *policy.Service    // likewise
	sessions      *middleware.Sessions
	issuer        *handlers.Issuer // nil for none
	runTokens     *runTokens
	workspaceRuns *workspaceRuns // nil without runs
}

// open opens them from the bottom up. close must follow, also after an error.
func (p *parts) open(ctx context.Context) (err error) {
	if err := p.openTraces(ctx, os.Getenv); err != nil { // closed last: the others' last spans go too
		return err
	}
	if p.tls, err = openTLS(ctx, p.settings.Server, p.log); err != nil {
		return err
	}
	if err := storage.AwaitMove(ctx, p.settings, p.log); err != nil {
		return err
	}
	opened, err := storage.RefuseMissing(p.settings, p.program.MakeMissing)
	if err != nil {
		return err
	}
	if err := p.openKeys(ctx); err != nil {
		return err
	}
	if err := p.openSealed(ctx); err != nil {
		return err
	}
	if err := p.openStores(ctx); err != nil {
		return err
	}
	if err := p.openServices(ctx); err != nil {
		return err
	}
	if err := opened(); err != nil {
		p.log.WarnContext(ctx, "the list of the folder's databases can't be written: one that is lost later is not missed",
			"error", err)
	}
	if _, err := (doctorsCopies{p.settings}).removeLeft(); err != nil {
		p.log.WarnContext(ctx, "a copy that `holdfast doctor` has left can't be removed; it has all secrets", "error", err)
	}
	p.startShredder(ctx)
	return nil
}

// close closes what was opened, the last first.
func (p *parts) close() {
	for _, end := range slices.Backward(p.closers) {
		end()
	}
}

func (p *parts) closeLater(what string, c io.Closer) {
	p.closers = append(p.closers, func() {
		if err := c.Close(); err != nil {
			p.log.Error("closing "+what, "error", err)
		}
	})
}

func (p *parts) openKeys(ctx context.Context) error {
	tokens, err := oidc.NewVerifier(oidc.Config{Logger: p.log})
	if err != nil {
		return err
	}
	p.closeLater("the token verifier", tokens)
	if err := p.openShared(ctx); err != nil {
		return err
	}
	if p.verifier, p.watcher, err = openKeys(ctx, p.settings, p.shared, tokens, p.runTokens, p.log); err != nil {
		return err
	}
	p.closeLater("the auth file's watcher", p.watcher)
	p.receipts = receiptsOf(p.settings)
	p.compareKeys(ctx)
	return nil
}

func (p *parts) openStores(ctx context.Context) (err error) {
	if p.states, err = storage.OpenStates(ctx, p.settings, p.log); err != nil {
		return err
	}
	p.closeLater("the state store", p.states)
	if p.uploads, err = storage.OpenUploads(ctx, p.settings, p.log); err != nil {
		return err
	}
	p.closeLater("the upload store", p.uploads)
	p.closeLater("the answers to exports from this machine", openOperator(p.settings, p.uploads, p.moves, p.log))
	return nil
}

func (p *parts) openServices(ctx context.Context) (err error) {
	p.memory = middleware.NewMemory(p.settings.Limits.MaxBodyBytes)
	clock := storage.ClockOf(p.states)
	p.gate = audit.NewGate(p.states, clock)
	p.keeper = newKeeper(p.settings, p.watcher, p.states, p.uploads, p.log)
	p.service = state.NewService(p.states, p.watcher, clock, p.log).Within(p.memory).WithQuota(p.keeper)
	p.startRecords(ctx, clock)
	log := audit.Retention{Log: p.states, Orgs: p.watcher.Organizations, Keep: p.watcher.AuditKept, Now: clock}
	p.closers = append(p.closers, sweepRegularly(ctx, p.service.Sweep, p.log), sweepRegularly(ctx, log.Sweep, p.log))
	if err := p.startNotices(ctx); err != nil {
		return err
	}
	p.closeLater("the receipt of the auth file", p.confirmKeys(ctx))
	p.uses = trackUses(ctx, p.verifier, p.settings, p.sharedUses(), p.log)
	p.closeLater("the record of when keys were used", p.uses)
	if p.catalogue, err = p.openCatalogue(ctx); err != nil {
		return err
	}
	p.closeLater("the resource index", p.catalogue)
	old := uploadRetention(p.uploads, p.catalogue.indexer, p.states, p.watcher, clock, p.log)
	p.closers = append(p.closers, sweepRegularly(ctx, old.Sweep, p.log))
	p.inventory = inventory.NewService(p.uploads).WithGate(p.gate).WithClock(time.Now,
		p.log).WithQuota(p.keeper).Within(p.memory).WithSecrets(inventory.Secrets{
		Policy: inventory.SecretPolicy(p.settings.Storage.UploadSecrets), Names: p.catalogue.rules.SecretNames()})
	if p.settings.Storage.Type != configs.Memory { // else all are refused
		p.inventory.WithReads(p.reads, clock)
	}
	p.inventory.Tell(p.catalogue.indexer.Uploaded)
	p.live = live.NewHub(live.Deps{Log: p.states, Gate: p.gate, Logger: p.log})
	p.service.OnMove(func(_ context.Context, moved state.Moved) { p.live.Wake(moved.Ref.Org) })
	if err := p.startHeads(ctx); err != nil {
		return err
	}
	if err := p.openWorkspaces(ctx); err != nil {
		return err
	}
	p.openRepositories(ctx)
	if err := p.openRuns(ctx); err != nil {
		return err
	}
	if err := p.openSessions(ctx); err != nil {
		return err
	}
	p.openLayers(ctx)
	p.openPulls(ctx)
	p.fetchRepositories(ctx)
	return nil
}

// databases are the embedded ones of all that is open.
func (p *parts) databases() (all []vitals.Databases) {
	for _, one := range []any{p.states, p.uploads, p.database} {
		if some, ok := one.(vitals.Databases); ok && one != (*sqldb.DB)(nil) {
			all = append(all, some)
		}
	}
	return all
}
