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
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// Deps is what the routes stand on.
type Deps struct {
	States *state.Service
	// Inventory serves uploads; nil answers them with fault.UploadsOff.
	Inventory *inventory.Service
	// Resources serves what is known of resources in both; without it there are no such
	// routes.
	Resources *resources.Service
	// Quota is what the services store by, to show it; nil for nothing.
	Quota    *quota.Keeper
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
	// Connections that the server counts; nil for none.
	Connections *middleware.Connections
}

// NewRouter returns the handler of every route. It never redirects: a client that
// follows a redirect turns its POST into a GET and loses the state it meant to save.
func NewRouter(d Deps) (Router, error) {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.UseEscapedPath = true      // a state's name is one segment, its "/" spelt %2F; see routedPath
	router.UnescapePathValues = false // gin takes a path for a query, in which "+" is a space; see pathValue
	router.HandleMethodNotAllowed = true
	// Who calls is found by middleware.Clients alone: gin's reading of X-Forwarded-For takes
	// the proxy for the client where it names none.
	router.ForwardedByClientIP = false
	if err := router.SetTrustedProxies(nil); err != nil {
		return Router{}, err
	}
	if d.Inventory == nil {
		d.Inventory = inventory.NewService(inventory.Off{})
	}
	guard := middleware.NewGuard(d.Limits, d.Now)
	measured := newMetrics(d.Inventory, guard, d.Version, d.Now)
	measured.registry.MustRegister(newFindingsCollector(d.States))
	if d.Connections != nil {
		measured.registry.MustRegister(newConnectionCollector(d.Connections))
	}
	if d.Quota != nil {
		measured.registry.MustRegister(newQuotaCollector(d.Quota))
	}
	if d.Resources != nil {
		measured.registry.MustRegister(newIndexCollector(d.Resources))
	}
	router.Use(middleware.Clients(d.TrustedProxies), middleware.SecurityHeaders(), middleware.RequestID(), middleware.Log(d.Log, d.Now), measured.observe, middleware.Paced(d.Limits.Pace, d.Now), middleware.Recover(d.Log))

	native := middleware.Authenticate(d.Verifier, middleware.NativeCredentials)
	keyOnly := middleware.Authenticate(d.Verifier, middleware.KeyCredentials)

	routeHealth(router, health{states: d.States.Ready, uploads: d.Inventory.Status, version: d.Version})
	routeProbe(router, "/metrics", measured.handler())
	routeNative(router.Group("/api/v1/state/:name", native), d, guard)
	routeHistory(router.Group("/api/v1", native), d, guard)
	routePartition(router.Group("/terraform/state/:enclave/:partition", keyOnly), d, guard)
	routeResources(router.Group("/api/v1", native, guard.States(nil), middleware.Admit(0)), d)
	routeUploads(router.Group("/", native, guard.Requests()), d, measured)
	router.GET("/api/v1/whoami", native, guard.Requests(), whoami{d.Limits.Usual(), d.Quota}.show)

	unknown := gin.HandlersChain{behind("/api", native), behind("/upload", native), behind("/terraform", keyOnly), known(guard.Requests())}
	router.NoRoute(append(unknown, noRoute)...)
	router.NoMethod(append(unknown, noMethod)...)
	return Router{router}, nil
}

func routeHealth(router gin.IRoutes, h health) {
	routeProbe(router, "/health", h.health)
	routeProbe(router, "/livez", h.live)
	routeProbe(router, "/readyz", h.readiness)
}

// routeProbe answers HEAD too, as GET without its body: some monitors ask no other way.
func routeProbe(router gin.IRoutes, path string, answer gin.HandlerFunc) {
	router.GET(path, answer)
	router.HEAD(path, answer)
}

// routeNative is Holdfast's own spelling; see routedPath.
func routeNative(group gin.IRoutes, d Deps, guard *middleware.Guard) {
	s := states{service: d.States, quota: d.Quota, maxBytes: d.MaxStateBytes, name: nativeName, absent: http.StatusNotFound}
	group.Use(guard.States(s.claim))
	routeState(group, "/-/lock", s)
	group.GET("/-/lock", middleware.Admit(0), s.holder)
}

// routeHistory is what is known of states beyond their newest bytes.
func routeHistory(group gin.IRouter, d Deps, guard *middleware.Guard) {
	s := states{service: d.States, quota: d.Quota, index: d.Resources, lists: lists{d.Limits.Memory}, maxBytes: d.MaxStateBytes, name: nativeName, absent: http.StatusNotFound}
	group = group.Group("", guard.States(s.claim))
	empty, orders, body := middleware.Admit(0), middleware.Admit(maxOrderBytes), middleware.Admit(s.maxBytes)
	group.GET("/states", empty, s.list)
	group.GET("/locks", empty, s.locks)
	group.GET("/audit", empty, s.events)
	const one = "/state/:name/-"
	group.POST(one+"/undelete", empty, s.undelete)
	group.POST(one+"/lock/release", orders, s.release)
	group.GET(one+"/versions", empty, s.versions)
	group.GET(one+"/versions/:version", empty, s.version)
	group.DELETE(one+"/versions/:version", empty, s.purge)
	group.POST(one+"/versions/:version/rollback", orders, s.rollback)
	group.GET(one+"/versions/:version/diff", empty, s.diff)
	group.GET(one+"/outputs", empty, s.outputs)
	group.GET(one+"/outputs/:key", empty, s.output)
	group.GET(one+"/candidates", empty, s.candidates)
	group.POST(one+"/candidates", s.writable, body, s.addCandidate)
	group.GET(one+"/candidates/:id", empty, s.candidate)
	group.GET(one+"/candidates/:id/diff", empty, s.candidateDiff)
	group.POST(one+"/candidates/:id/promote", orders, s.promote)
	group.POST(one+"/candidates/:id/discard", orders, s.discard)
}

// routePartition is the enclave and partition spelling: the state "enclave/partition".
// It answers 204 where there is no state, and 200 to the deletion of one.
func routePartition(group gin.IRoutes, d Deps, guard *middleware.Guard) {
	s := states{service: d.States, quota: d.Quota, maxBytes: d.MaxStateBytes, name: partitionName, absent: http.StatusNoContent}
	group.Use(guard.States(s.claim))
	routeState(group, "/lock", s)
}

// routeState lists what both spellings have. Clients lock with LOCK and UNLOCK on the
// state's own address, or with what their lock_address and lock_method say.
func routeState(group gin.IRoutes, lock string, s states) {
	empty, info, body := middleware.Admit(0), middleware.Admit(maxLockInfoBytes), middleware.Admit(s.maxBytes)
	group.GET("", empty, s.get)
	group.POST("", s.writable, body, s.put)
	group.PUT("", s.writable, body, s.put)
	group.DELETE("", empty, s.delete)
	group.Handle("LOCK", "", info, s.lock)
	group.Handle("UNLOCK", "", info, s.unlock)
	group.POST(lock, info, s.lock)
	group.PUT(lock, info, s.lock)
	group.DELETE(lock, info, s.unlock)
}

// routeUploads is what providers report, and what is read back of it.
func routeUploads(group gin.IRoutes, d Deps, measured metrics) {
	body := middleware.JSONOnly(inventory.MaxBody, middleware.AdmitBody)
	take := uploads{service: d.Inventory, quota: d.Quota, recorded: measured.instances}
	group.POST("/api/v1/upload", body, take.upload)
	group.POST("/upload", body, take.upload)
	read := data{service: d.Inventory, memory: d.Limits.Memory, lists: lists{d.Limits.Memory}, log: d.Log}
	group.GET("/api/v1/data", middleware.Admit(0), read.records)
	group.GET("/api/v1/data/latest", middleware.Admit(0), read.latest)
	group.GET("/api/v1/data/summary", middleware.Admit(0), read.summary)
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
