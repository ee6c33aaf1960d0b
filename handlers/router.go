package handlers

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/internal/links"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/live"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// Deps is what the routes stand on.
type Deps struct {
	States *state.Service
	// Inventory serves uploads; nil answers them with fault.UploadsOff.
	Inventory *inventory.Service
	// Resources serves what is known of resources in both; without it there are no such
	// routes.
	Resources *resources.Service
	// Workspaces serves workspaces and their configurations; nil where the server keeps none.
	Workspaces *workspace.Service
	// Gate refuses callers that lack a route's rights before their body is looked at; nil for one that records nothing.
	Gate *audit.Gate
	// Tools says what the server's own executor can plan with; nil for nothing.
	Tools func(context.Context) ([]api.ToolVersions, error)
	// Repositories serves the git repositories that configurations come from; nil where the server keeps none.
	Repositories *repos.Service
	// Runs serves runs, and those who execute them; nil answers them with fault.RunsOff.
	Runs *runs.Service
	// Insights says what the plans of Runs mean; nil where there are none.
	Insights *insight.Service
	// Policies serves the bundles that Insights shows plans to; nil where there are none.
	Policies *policy.Service
	// Live tells what happens in organizations; nil tells nothing.
	Live *live.Hub
	// Stopping is closed when the server stops: those who wait then come again, to another one
	// or to the next. Nil for never.
	Stopping <-chan struct{}
	// Quota is what the services store by, to show it; nil for nothing.
	Quota *quota.Keeper
	// Databases are the embedded ones, to be watched; nil for none.
	Databases []vitals.Databases
	// Standing counts what there is of runs, agents and layers, for the metrics; nil for nothing.
	Standing func(context.Context) (vitals.Standing, error)
	// Upkeep says what people have to renew, for the metrics; nil for nothing.
	Upkeep func() Upkeep
	// Traces makes spans of requests; nil makes none.
	Traces   *spans.Requests
	Verifier middleware.Verifier
	// KeyEdits serves the keys and settings of organizations, and KeyUses says when keys were used; nil for nothing.
	KeyEdits *keys.Service
	KeyUses  KeyUses
	// Site is the address at which people reach the server; empty where nobody knows.
	Site links.Site
	// Sessions of people who use the page; nil for none.
	Sessions *middleware.Sessions
	// Issuer signs people in beside keys; nil for none.
	Issuer *Issuer
	// Layers of repositories; nil for none.
	Layers *layers.Service
	// Pulls are the pull requests that change them; nil for none.
	Pulls *pulls.Service
	// Dialects are the names of the spellings, beside Holdfast's own, that are spoken.
	Dialects []string
	// Aliases is what other servers call organizations, for those spellings; nil for nothing.
	Aliases Aliases
	// Keys says what keys are called; nil for nothing.
	Keys KeyNames
	// AuthStale says in words why the auth.cfg in force may not be the newest, empty when it is;
	// nil where no other node is known of.
	AuthStale func() string
	// Nobody reports whether auth.cfg has no organization; nil where that is unknown.
	Nobody func() bool
	Log    *slog.Logger
	Now    func() time.Time
	// Version of the binary, for /health.
	Version string
	// Page has the files of the page for browsers; nil for none.
	Page fs.FS
	// PageFolder is where the page is read from instead, once a build has written it there, and again
	// after each further one; nil for Page.
	PageFolder fs.FS
	// MaxStateBytes is the largest state body that is accepted.
	MaxStateBytes int64
	// TrustedProxies may name the client's address in X-Forwarded-For; usually none.
	TrustedProxies []netip.Prefix
	// Limits protect organizations from each other.
	Limits middleware.Limits
	// Notices says what becomes of notices; nil for none.
	Notices func() NoticeCounts
	// Doors keep organizations out that are being destroyed; nil for none.
	Doors *middleware.Doors
	// Connections that the server counts; nil for none.
	Connections *middleware.Connections
}

// NewRouter returns the handler of every route. It redirects nobody but browsers that ask for a page: a
// client that follows a redirect turns its POST into a GET and loses the state it meant to save.
func NewRouter(d Deps) (Router, error) {
	engine, err := newEngine()
	if err != nil {
		return Router{}, err
	}
	if d.Inventory == nil {
		d.Inventory = inventory.NewService(inventory.Off{})
	}
	if d.Live == nil {
		d.Live = live.NewHub(live.Deps{Log: live.Off{}})
	}
	guard := middleware.NewGuard(d.Limits, d.Now)
	measured := d.measured(guard)
	engine.Use(middleware.Clients(d.TrustedProxies), middleware.SecurityHeaders(), middleware.RequestID())
	if d.Traces != nil {
		engine.Use(middleware.Traced(d.Traces))
	}
	engine.Use(middleware.Log(d.Log, d.Now), measured.observe, middleware.Paced(d.Limits.Pace, d.Now),
		middleware.Recover(d.Log))
	if d.Doors != nil {
		engine.Use(d.Doors.Watch())
	}
	page, err := d.pages()
	if err != nil {
		return Router{}, err
	}
	page.route(engine)
	routes := &book{}
	open := section{RouterGroup: &engine.RouterGroup, book: routes}
	routeHealth(open.tagged(tagProbes), page,
		health{states: d.States.Ready, uploads: d.Inventory.Status, auth: d.AuthStale, nobody: d.Nobody,
			scarce: d.Quota.Scarce, version: d.Version},
		measured.handler())
	routeDescription(open)
	if d.Repositories != nil {
		d.routeWebhooks(open)
	}
	d.routeAuthenticated(engine, routes, guard, measured)
	return Router{engine, d.spoken(), routes}, nil
}

// pages reads the page, if there is one.
func (d Deps) pages() (pages, error) {
	if d.PageFolder != nil {
		folder := pageFolder{from: d.PageFolder, log: d.Log}
		return pages{folder.files, true}, nil
	}
	var files map[string]*pageFile
	var err error
	if d.Page != nil {
		if files, err = readPage(d.Page); err == nil && files[indexName] == nil {
			err = errors.New("the page has no " + indexName)
		}
	}
	return pages{func() map[string]*pageFile { return files }, files != nil}, err
}

func newEngine() (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.UseEscapedPath = true      // a state's name is one segment, its "/" spelt %2F; see routedPath
	engine.UnescapePathValues = false // gin takes a path for a query, in which "+" is a space; see request.inPath
	engine.HandleMethodNotAllowed = true
	// Who calls is found by middleware.Clients alone: gin's reading of X-Forwarded-For takes
	// the proxy for the client where it names none.
	engine.ForwardedByClientIP = false
	return engine, engine.SetTrustedProxies(nil)
}

// measured are the metrics of what there is.
func (d Deps) measured(guard *middleware.Guard) metrics {
	m := newMetrics(d.Inventory, guard, d.Version, d.Now)
	m.registry.MustRegister(newFindingsCollector(d.States), newStateCollector(d.States, d.Now),
		newDatabaseCollector(d.Databases))
	if counts, ok := d.Verifier.(refuser); ok {
		m.registry.MustRegister(newLoginCollector(counts))
	}
	if d.Connections != nil {
		m.registry.MustRegister(newConnectionCollector(d.Connections))
	}
	if d.Notices != nil {
		m.registry.MustRegister(newNoticeCollector(d.Notices, d.Now))
	}
	if d.Standing != nil && d.Runs != nil {
		m.registry.MustRegister(newStandingCollector(d.Standing, d.Runs.Ended, d.Now))
	}
	if d.Upkeep != nil {
		m.registry.MustRegister(newUpkeepCollector(d.Upkeep, d.Now))
	}
	if d.Quota != nil {
		m.registry.MustRegister(newQuotaCollector(d.Quota))
	}
	if d.Resources != nil {
		m.registry.MustRegister(newIndexCollector(d.Resources))
	}
	return m
}

// routeAuthenticated routes what needs credentials.
func (d Deps) routeAuthenticated(router *gin.Engine, routes *book, guard *middleware.Guard, measured metrics) {
	native := middleware.AuthenticateToo(d.Sessions, d.Verifier, middleware.NativeCredentials)
	anyUser := middleware.Authenticate(d.Verifier, middleware.KeyCredentials)
	all := section{RouterGroup: &router.RouterGroup, book: routes, by: byKey, gate: d.Gate}
	one := states{service: d.States, index: d.Resources, quota: d.Quota, lists: lists{d.Limits.Memory},
		maxBytes: d.MaxStateBytes, aliases: d.Aliases, keys: d.Keys}
	routeNative(all.under("", native), one, guard)
	spoken := d.spoken()
	for _, other := range spoken {
		routeDialect(all.under(other.path, anyUser, middleware.Statuses(other.statuses)), one, other, guard)
	}
	routeResources(all.under("/api/v1", native, guard.States(nil), middleware.Admit(0)), d)
	if d.Workspaces != nil {
		routeWorkspaces(all.under("/api/v1", native), workspaces{d.Workspaces, d.Tools, lists{d.Limits.Memory}}, guard)
		d.routeProjects(all, native, one, guard)
	}
	routeUploads(all.under("", native, guard.Requests()), d, measured)
	d.routeLayers(all.under("/api/v1", native), guard)
	if d.Repositories != nil {
		d.routeRepositories(all, native, guard)
		d.routePulls(all.under("/api/v1", native), guard)
	}
	d.routeRuns(all, native, guard)
	if d.Policies != nil {
		d.routePolicies(all, native, guard)
	}
	d.routeEnclaves(all, anyUser, guard)
	d.routeExecutors(all, guard)
	who := whoami{d.Limits.Usual(), d.Limits.Nodes, guard, d.Quota, d.Runs, d.Workspaces}
	all.tagged(tagCallers).route("GET", "/api/v1/whoami",
		op("whoami", "Who the credentials stand for, and what they are good for").gives(api.Identity{}).anyOther(),
		who.show, native, guard.Requests())
	if d.KeyEdits != nil {
		d.routeKeys(all.tagged(tagKeys), native, guard)
		d.routeOrganization(all.tagged(tagCallers), native, guard)
	}
	if d.Sessions != nil {
		d.routeSessions(all.tagged(tagSessions), native, guard, who)
	}
	d.routeLive(all, native, guard)
	d.routeHome(all, native, guard)

	unknown := gin.HandlersChain{corners(spoken, native, anyUser), known(guard.Requests())}
	router.NoRoute(append(unknown, noRoute)...)
	router.NoMethod(append(unknown, noMethod)...)
}

func routeHealth(s section, page pages, h health, metrics gin.HandlerFunc) {
	line := op("front", "What this server is, in a line of text; browsers are sent to the page").givesBytes(mediaText).
		answers(http.StatusSeeOther, openapi.Content{Media: mediaHTML}).anyOther()
	s.raw("GET", "/", line, page.front(line.serve(front(h.version))))
	s.raw("HEAD", "/", line.headers(), page.front(line.serve(front(h.version))))
	s.probe("/health", op("health", "Which server answers").gives(api.Health{}), h.health)
	s.probe("/livez", op("live", "Whether the process answers").gives(api.Readiness{}), h.live)
	ready := s
	ready.statuses = map[fault.Code]int{}
	for _, code := range unready() {
		ready.statuses[code] = http.StatusServiceUnavailable
	}
	ready.probe("/readyz", op("ready",
		"Whether a write would be accepted now").gives(api.Readiness{}).fails(unready()...),
		h.readiness)
	o := op("metrics", "Prometheus metrics of this process").givesBytes(mediaText).anyOther()
	s.raw("GET", "/metrics", o, metrics)
	s.raw("HEAD", "/metrics", o.headers(), metrics)
}

// unready is why a store accepts no write, whatever it is: to a balancer it means "not this one".
func unready() []fault.Code {
	return []fault.Code{fault.StoreUnavailable, fault.StoreFull, fault.StoreCorrupt, fault.StateCorrupt, fault.Overloaded,
		fault.Interrupted, fault.UploadsOff, fault.BacklogFull, fault.InternalError}
}

// probe answers HEAD too, as GET without its body: some monitors ask no other way.
func (s section) probe(path string, o operation, h handler) {
	o = o.anyOther()
	s.route("GET", path, o, h)
	s.route("HEAD", path, o.headers(), h)
}

// spoken are the dialects that are on.
func (d Deps) spoken() []dialect {
	return slices.DeleteFunc(dialects(), func(one dialect) bool { return !slices.Contains(d.Dialects, one.name) })
}

// routeUploads is what providers report, and what is read back of it.
func routeUploads(s section, d Deps, measured metrics) {
	s = s.tagged(tagUploads, fault.UploadsOff)
	body := middleware.JSONOnly(inventory.MaxBody, middleware.AdmitBody)
	take := uploads{service: d.Inventory, quota: d.Quota, recorded: measured.instances}
	upload := op("upload", "Record resources: all of them or, on any error, none").with(idempotencyOf()).
		takes(api.Upload{}).lenient().gives(api.Receipt{}).
		headed("Idempotent-Replayed", "X-Holdfast-Quota").needs(auth.WriteData).anyOther().
		fails(fault.UploadMalformed, fault.UploadInvalid, fault.IdempotencyInvalid, fault.IdempotencyMismatch,
			fault.StoreFull, fault.QuotaExceeded, fault.BacklogFull, fault.StoreCorrupt)
	s.route("POST", "/api/v1/upload", upload, take.upload, body)
	upload.ID = "uploadShort"
	s.route("POST", "/upload", upload, take.upload, body)
	read := data{service: d.Inventory, memory: d.Limits.Memory, lists: lists{d.Limits.Memory}, log: d.Log}
	s.route("GET", "/api/v1/data", aboutRecords(), read.records, middleware.Admit(0))
	s.route("GET", "/api/v1/data/latest",
		op("listLatestRecords", "The newest record of each provider, category, type and name, the newest first").
			with(recordFilters()...).givesRecords().needs(auth.ReadData).fails(fault.QueryTooWide, fault.StoreCorrupt),
		read.latest, middleware.Admit(0))
	s.route("GET", "/api/v1/data/summary",
		op("summarizeRecords", "Counts by provider, category and type").gives(api.Summary{}).needs(auth.ReadData).
			fails(fault.StoreCorrupt),
		read.summary, middleware.Admit(0))
}

func aboutRecords() operation {
	return op("listRecords", "What was uploaded, in the order in which it was recorded").with(recordFilters()...).
		with(cursorOfPage(), choiceOf("order", "Oldest or newest first.", "asc",
			"desc")).givesRecords().needs(auth.ReadData).fails(fault.CursorInvalid, fault.StoreCorrupt)
}

// corners puts the unknown corners of the API behind authentication too, so that a stranger can't
// map it. A dialect that is off has none.
func corners(spoken []dialect, native, anyUser gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		path := c.Request.URL.Path
		switch {
		case slices.ContainsFunc(spoken, func(d dialect) bool { return d.covers(path) }):
			anyUser(c)
		case strings.HasPrefix(path, "/api"), strings.HasPrefix(path, "/upload"):
			native(c)
		}
	}
}

// known runs what needs an organization, where one is calling.
func known(limit gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if middleware.Principal(c).Org != uuid.Nil {
			limit(c)
		}
	}
}

func noRoute(c *gin.Context) {
	middleware.Fail(c, fault.New(fault.RouteUnknown, "there is no such path"))
}

func noMethod(c *gin.Context) {
	message := "this path has no method %s; it has %s"
	if strings.HasPrefix(c.Request.URL.Path, statesPath) && strings.Contains(c.Request.URL.Path, belongs) {
		message += "; where it is meant as the name of a state, send its \"/\" as %%2F"
	}
	middleware.Fail(c, fault.New(fault.MethodUnknown, message, c.Request.Method, c.Writer.Header().Get("Allow")))
}
