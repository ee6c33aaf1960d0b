package handlers

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/inventory"
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
	Log      *slog.Logger
	Now      func() time.Time
	// Version of the binary, for /health.
	Version string
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

// NewRouter returns the handler of every route. It never redirects: a client that
// follows a redirect turns its POST into a GET and loses the state it meant to save.
func NewRouter(d Deps) (Router, error) {
	engine, err := newEngine()
	if err != nil {
		return Router{}, err
	}
	if d.Inventory == nil {
		d.Inventory = inventory.NewService(inventory.Off{})
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
	routeHealth(engine, health{states: d.States.Ready, uploads: d.Inventory.Status, version: d.Version})
	routeProbe(engine, "/metrics", measured.handler())
	d.routeAuthenticated(engine, guard, measured)
	return Router{engine}, nil
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
	native := middleware.Authenticate(d.Verifier, middleware.NativeCredentials)
	keyOnly := middleware.Authenticate(d.Verifier, middleware.KeyCredentials)
	one := states{service: d.States, index: d.Resources, quota: d.Quota, lists: lists{d.Limits.Memory}, maxBytes: d.MaxStateBytes}
	routeNative(router.Group("/api/v1", native), one, guard)
	routePartition(router.Group("/terraform/state/:enclave/:partition", keyOnly), one, guard)
	routeResources(router.Group("/api/v1", native, guard.States(nil), middleware.Admit(0)), d)
	if d.Workspaces != nil {
		routeWorkspaces(router.Group("/api/v1", native), workspaces{d.Workspaces, lists{d.Limits.Memory}}, guard)
	}
	routeUploads(router.Group("/", native, guard.Requests()), d, measured)
	d.routeRuns(router, native, guard)
	d.routeExecutors(router, guard)
	router.GET("/api/v1/whoami", native, guard.Requests(), serve(whoami{d.Limits.Usual(), guard, d.Quota, d.Runs, d.Workspaces}.show))

	unknown := gin.HandlersChain{behind("/api", native), behind("/upload", native), behind("/terraform", keyOnly), known(guard.Requests())}
	router.NoRoute(append(unknown, noRoute)...)
	router.NoMethod(append(unknown, noMethod)...)
}

func routeHealth(router gin.IRoutes, h health) {
	routeProbe(router, "/", serve(h.front))
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
	method, path string  // behind the state's address
	claim        claimed // where it says which lock it holds; nil for nowhere
	body         int64   // bytes that it may have; 0 for none
	write        bool    // only who may write is let in with a body
	serve        stateHandler
}

// route serves what is about one state, in one spelling.
func (s states) route(group gin.IRoutes, limit func(middleware.Claim) gin.HandlerFunc, routes []stateRoute) {
	for _, r := range routes {
		chain := gin.HandlersChain{limit(s.claim(r.claim))}
		if r.write {
			chain = append(chain, s.writable)
		}
		group.Handle(r.method, r.path, append(chain, middleware.Admit(r.body), serve(s.named(r.serve)))...)
	}
}

// writes are in both spellings, as operations are.
func (s states) writes() []stateRoute {
	return []stateRoute{
		{"POST", "", inQuery, s.maxBytes, true, s.put},
		{"PUT", "", inQuery, s.maxBytes, true, s.put},
		{"DELETE", "", inQuery, 0, false, s.delete},
	}
}

// operations is what each operation of a client begins and ends with. Clients lock with LOCK and
// UNLOCK on the state's own address, or with what their lock_address and lock_method say.
func (s states) operations(lock string) []stateRoute {
	return []stateRoute{
		{"GET", "", nil, 0, false, s.get},
		{"LOCK", "", nil, maxLockInfoBytes, false, s.lock},
		{"UNLOCK", "", inUnlock, maxLockInfoBytes, false, s.unlock},
		{"POST", lock, nil, maxLockInfoBytes, false, s.lock},
		{"PUT", lock, nil, maxLockInfoBytes, false, s.lock},
		{"DELETE", lock, inUnlock, maxLockInfoBytes, false, s.unlock},
	}
}

// history is what is known of a state beyond its newest bytes.
func (s states) history() []stateRoute {
	return []stateRoute{
		{"GET", "/-/lock", nil, 0, false, s.holder},
		{"POST", "/-/lock/release", inQuery, maxOrderBytes, false, s.release},
		{"POST", "/-/undelete", inQuery, 0, false, s.undelete},
		{"GET", "/-/expect", nil, 0, false, s.expected},
		{"POST", "/-/expect", nil, maxOrderBytes, false, s.expect},
		{"DELETE", "/-/expect", nil, 0, false, s.unexpect},
		{"GET", "/-/versions", nil, 0, false, s.versions},
		{"GET", "/-/versions/:version", nil, 0, false, s.version},
		{"DELETE", "/-/versions/:version", nil, 0, false, s.purge},
		{"POST", "/-/versions/:version/rollback", inOrder, maxOrderBytes, false, s.rollback},
		{"GET", "/-/versions/:version/diff", nil, 0, false, s.diff},
		{"GET", "/-/outputs", nil, 0, false, s.outputs},
		{"GET", "/-/outputs/:key", nil, 0, false, s.output},
		{"GET", "/-/candidates", nil, 0, false, s.candidates},
		{"POST", "/-/candidates", nil, s.maxBytes, true, s.addCandidate},
		{"GET", "/-/candidates/:id", nil, 0, false, s.candidate},
		{"GET", "/-/candidates/:id/diff", nil, 0, false, s.candidateDiff},
		{"POST", "/-/candidates/:id/promote", inOrder, maxOrderBytes, false, s.promote},
		{"POST", "/-/candidates/:id/discard", inQuery, maxOrderBytes, false, s.discard},
	}
}

// routeNative is Holdfast's own spelling; see routedPath.
func routeNative(group gin.IRouter, s states, guard *middleware.Guard) {
	s.name, s.absent = nativeName, http.StatusNotFound
	one := group.Group("/state/:name")
	s.route(one, guard.Operations, s.operations("/-/lock"))
	s.route(one, guard.States, append(s.writes(), s.history()...))
	all := group.Group("", guard.States(nil), middleware.Admit(0))
	all.GET("/states", serve(s.list))
	all.GET("/locks", serve(s.locks))
	all.GET("/expectations", serve(s.expectations))
	all.GET("/audit", serve(s.events))
}

// routePartition is the enclave and partition spelling: the state "enclave/partition".
// It answers 204 where there is no state, and 200 to the deletion of one.
func routePartition(group gin.IRoutes, s states, guard *middleware.Guard) {
	s.name, s.absent = partitionName, http.StatusNoContent
	s.route(group, guard.Operations, s.operations("/lock"))
	s.route(group, guard.States, s.writes())
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

// behind puts the unknown corners of the API behind authentication too, so that a
// stranger can't map it.
func behind(prefix string, authenticate gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		if strings.HasPrefix(c.Request.URL.Path, prefix) {
			authenticate(c)
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
