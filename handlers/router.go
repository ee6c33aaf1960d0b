package handlers

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/live"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
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
	// Runs serves runs, and those who execute them; nil answers them with fault.RunsOff.
	Runs *runs.Service
	// Live tells what happens in organizations; nil tells nothing.
	Live *live.Hub
	// Stopping is closed when the server stops: those who wait then come again, to another one
	// or to the next. Nil for never.
	Stopping <-chan struct{}
	// Quota is what the services store by, to show it; nil for nothing.
	Quota *quota.Keeper
	// Databases are the embedded ones, to be watched; nil for none.
	Databases []vitals.Databases
	// Traces makes spans of requests; nil makes none.
	Traces   *spans.Requests
	Verifier middleware.Verifier
	// KeyEdits serves the keys of organizations, and KeyUses says when they were used; nil for nothing.
	KeyEdits *keys.Service
	KeyUses  KeyUses
	// Sessions of people who use the page; nil for none.
	Sessions *middleware.Sessions
	// Issuer signs people in beside keys; nil for none.
	Issuer *Issuer
	// Dialects are the names of the spellings, beside Holdfast's own, that are spoken.
	Dialects []string
	// Aliases is what other servers call organizations, for those spellings; nil for nothing.
	Aliases Aliases
	// Keys says what keys are called; nil for nothing.
	Keys KeyNames
	Log  *slog.Logger
	Now  func() time.Time
	// Version of the binary, for /health.
	Version string
	// Page has the files of the page for browsers; nil for none.
	Page fs.FS
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
	engine.Use(middleware.Log(d.Log, d.Now), measured.observe, middleware.Paced(d.Limits.Pace, d.Now), middleware.Recover(d.Log))
	if d.Doors != nil {
		engine.Use(d.Doors.Watch())
	}
	page, err := d.pages()
	if err != nil {
		return Router{}, err
	}
	page.route(engine)
	routeProbe(engine, "/", page.front(serve(front(d.Version))))
	routeHealth(engine, health{states: d.States.Ready, uploads: d.Inventory.Status, version: d.Version})
	routeProbe(engine, "/metrics", measured.handler())
	d.routeAuthenticated(engine, guard, measured)
	return Router{engine, d.spoken()}, nil
}

// pages reads the page, if there is one.
func (d Deps) pages() (pages, error) {
	if d.Page == nil {
		return pages{}, nil
	}
	files, err := readPage(d.Page)
	if err == nil && files[indexName] == nil {
		err = errors.New("the page has no " + indexName)
	}
	return pages{files}, err
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
	m.registry.MustRegister(newFindingsCollector(d.States), newStateCollector(d.States, d.Now), newDatabaseCollector(d.Databases))
	if counts, ok := d.Verifier.(refuser); ok {
		m.registry.MustRegister(newLoginCollector(counts))
	}
	if d.Connections != nil {
		m.registry.MustRegister(newConnectionCollector(d.Connections))
	}
	if d.Notices != nil {
		m.registry.MustRegister(newNoticeCollector(d.Notices, d.Now))
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
func (d Deps) routeAuthenticated(router *gin.Engine, guard *middleware.Guard, measured metrics) {
	native := middleware.AuthenticateToo(d.Sessions, d.Verifier, middleware.NativeCredentials)
	anyUser := middleware.Authenticate(d.Verifier, middleware.KeyCredentials)
	one := states{service: d.States, index: d.Resources, quota: d.Quota, lists: lists{d.Limits.Memory}, maxBytes: d.MaxStateBytes, aliases: d.Aliases, keys: d.Keys}
	routeNative(router.Group("", native), one, guard)
	spoken := d.spoken()
	for _, other := range spoken {
		routeDialect(router.Group(other.path, anyUser, middleware.Statuses(other.refused)), one, other, guard)
	}
	routeResources(router.Group("/api/v1", native, guard.States(nil), middleware.Admit(0)), d)
	if d.Workspaces != nil {
		routeWorkspaces(router.Group("/api/v1", native), workspaces{d.Workspaces, lists{d.Limits.Memory}}, guard)
	}
	routeUploads(router.Group("/", native, guard.Requests()), d, measured)
	d.routeRuns(router, native, guard)
	d.routeLive(router, native, guard)
	d.routeExecutors(router, guard)
	who := whoami{d.Limits.Usual(), guard, d.Quota, d.Runs, d.Workspaces}
	router.GET("/api/v1/whoami", native, guard.Requests(), serve(who.show))
	if d.KeyEdits != nil {
		d.routeKeys(router, native, guard)
	}
	if d.Sessions != nil {
		d.routeSessions(router, native, guard, who)
	}

	unknown := gin.HandlersChain{corners(spoken, native, anyUser), known(guard.Requests())}
	router.NoRoute(append(unknown, noRoute)...)
	router.NoMethod(append(unknown, noMethod)...)
}

func routeHealth(router gin.IRoutes, h health) {
	routeProbe(router, "/health", serve(h.health))
	routeProbe(router, "/livez", serve(h.live))
	routeProbe(router, "/readyz", serve(h.readiness))
}

// routeProbe answers HEAD too, as GET without its body: some monitors ask no other way.
func routeProbe(router gin.IRoutes, path string, answer gin.HandlerFunc) {
	router.GET(path, answer)
	router.HEAD(path, answer)
}

// stateRoute is an address of what is about one state.
type stateRoute struct {
	method, path string     // behind the state's address
	claim        claimed    // where it says which lock it holds; nil for nowhere
	body         int64      // bytes that it may have; 0 for none
	needs        auth.Right // without which nobody is let in with a body; empty for none
	serve        stateHandler
}

// route serves what is about one state, in one spelling.
func (s states) route(group gin.IRoutes, limit func(middleware.Claim) gin.HandlerFunc, routes []stateRoute) {
	for _, r := range routes {
		chain := gin.HandlersChain{limit(s.claim(r.claim))}
		if r.needs != "" {
			chain = append(chain, s.permitted(r.needs))
		}
		group.Handle(r.method, r.path, append(chain, middleware.Admit(r.body), serve(s.named(r.serve)))...)
	}
}

// operations is what each operation of a client begins and ends with, in each spelling's own way.
// Clients lock with LOCK and UNLOCK on the state's own address, or with what their lock_address and
// lock_method say.
func (s states) operations() []stateRoute {
	routes := []stateRoute{{"GET", "", nil, 0, "", s.get}}
	if s.spelling.verbs {
		routes = append(routes, stateRoute{"LOCK", "", nil, maxLockInfoBytes, "", s.lock},
			stateRoute{"UNLOCK", "", inUnlock, maxLockInfoBytes, "", s.unlock})
	}
	if lock := s.spelling.lock; lock != "" {
		routes = append(routes, stateRoute{"POST", lock, nil, maxLockInfoBytes, "", s.lock},
			stateRoute{"DELETE", lock, inUnlock, maxLockInfoBytes, "", s.unlock})
		if s.spelling.puts {
			routes = append(routes, stateRoute{"PUT", lock, nil, maxLockInfoBytes, "", s.lock})
		}
	}
	return routes
}

// writes are in all spellings, as operations are; serials where the other server has them.
func (s states) writes() []stateRoute {
	routes := []stateRoute{
		{"POST", "", inQuery, s.maxBytes, auth.WriteState, s.put},
		{"DELETE", "", inQuery, 0, "", s.delete},
	}
	if s.spelling.puts {
		routes = append(routes, stateRoute{"PUT", "", inQuery, s.maxBytes, auth.WriteState, s.put})
	}
	if s.spelling.serials {
		routes = append(routes, stateRoute{"GET", "/versions/:serial", nil, 0, "", s.serial},
			stateRoute{"DELETE", "/versions/:serial", nil, 0, "", s.purgeSerial})
	}
	return routes
}

// history is what is known of a state beyond its newest bytes.
func (s states) history() []stateRoute {
	return []stateRoute{
		{"GET", "/-/lock", nil, 0, "", s.holder},
		{"POST", "/-/lock/release", inQuery, maxOrderBytes, "", s.release},
		{"POST", "/-/undelete", inQuery, 0, "", s.undelete},
		{"GET", "/-/expect", nil, 0, "", s.expected},
		{"POST", "/-/expect", nil, maxOrderBytes, "", s.expect},
		{"DELETE", "/-/expect", nil, 0, "", s.unexpect},
		{"POST", "/-/import", inQuery, s.maxBytes, auth.ImportState, s.bring},
		{"GET", "/-/versions", nil, 0, "", s.versions},
		{"GET", "/-/versions/:version", nil, 0, "", s.version},
		{"DELETE", "/-/versions/:version", nil, 0, "", s.purge},
		{"POST", "/-/versions/:version/rollback", inOrder, maxOrderBytes, "", s.rollback},
		{"GET", "/-/versions/:version/diff", nil, 0, "", s.diff},
		{"GET", "/-/outputs", nil, 0, "", s.outputs},
		{"GET", "/-/outputs/:key", nil, 0, "", s.output},
		{"GET", "/-/candidates", nil, 0, "", s.candidates},
		{"POST", "/-/candidates", nil, s.maxBytes, auth.WriteState, s.addCandidate},
		{"GET", "/-/candidates/:id", nil, 0, "", s.candidate},
		{"GET", "/-/candidates/:id/diff", nil, 0, "", s.candidateDiff},
		{"POST", "/-/candidates/:id/promote", inOrder, maxOrderBytes, "", s.promote},
		{"POST", "/-/candidates/:id/discard", inQuery, maxOrderBytes, "", s.discard},
	}
}

// routeNative is Holdfast's own spelling, and what others have none for.
func routeNative(group gin.IRouter, s states, guard *middleware.Guard) {
	s.spelling = native()
	one := group.Group(s.spelling.path)
	s.route(one, guard.Operations, s.operations())
	s.route(one, guard.States, append(s.writes(), s.history()...))
	all := group.Group("/api/v1", guard.States(nil), middleware.Admit(0))
	all.GET("/states", serve(s.list))
	all.GET("/locks", serve(s.locks))
	all.GET("/expectations", serve(s.expectations))
	all.GET("/audit", serve(s.events))
}

// routeDialect is another server's spelling.
func routeDialect(group gin.IRoutes, s states, spelling dialect, guard *middleware.Guard) {
	s.spelling = spelling
	s.route(group, guard.Operations, s.operations())
	s.route(group, guard.States, s.writes())
}

// spoken are the dialects that are on.
func (d Deps) spoken() []dialect {
	return slices.DeleteFunc(dialects(), func(one dialect) bool { return !slices.Contains(d.Dialects, one.name) })
}

// routeUploads is what providers report, and what is read back of it.
func routeUploads(group gin.IRoutes, d Deps, measured metrics) {
	body := middleware.JSONOnly(inventory.MaxBody, middleware.AdmitBody)
	take := uploads{service: d.Inventory, quota: d.Quota, recorded: measured.instances}
	group.POST("/api/v1/upload", body, serve(take.upload))
	group.POST("/upload", body, serve(take.upload))
	read := data{service: d.Inventory, memory: d.Limits.Memory, lists: lists{d.Limits.Memory}, log: d.Log}
	group.GET("/api/v1/data", middleware.Admit(0), serve(read.records))
	group.GET("/api/v1/data/latest", middleware.Admit(0), serve(read.latest))
	group.GET("/api/v1/data/summary", middleware.Admit(0), serve(read.summary))
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
