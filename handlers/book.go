package handlers

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// book notes the description of each route as it is registered.
type book struct{ all []openapi.Operation }

// caller is who may ask for something, by what they show.
type caller int

const (
	anybody  caller = iota
	byKey           // any credentials of an organization
	byPool          // a pool's token
	byAgent         // an agent's secret
	byRun           // the token of a run's assignment
	byAnyKey        // as byKey, and the user name may be any UUID
)

// section is a group of routes for the same callers.
type section struct {
	*gin.RouterGroup
	book     *book
	by       caller
	gate     *audit.Gate
	tag      string
	statuses map[fault.Code]int // of faults that have another one here than usual
	also     map[fault.Code]int // of faults that have yet another one at times
	codes    []fault.Code       // of faults that all of them have
}

// under returns a section of addresses below this one's, with more in front of its handlers.
func (s section) under(path string, chain ...gin.HandlerFunc) section {
	s.RouterGroup = s.Group(path, chain...)
	return s
}

// tagged is the section under another heading, with more faults that all of its routes have.
func (s section) tagged(tag string, codes ...fault.Code) section {
	s.tag, s.codes = tag, slices.Concat(s.codes, codes)
	return s
}

// route registers a handler with its description.
func (s section) route(method, path string, o operation, h handler, chain ...gin.HandlerFunc) {
	s.raw(method, path, o, append(chain[:len(chain):len(chain)], o.serve(h))...)
}

// raw is route of what is no handler of this package.
func (s section) raw(method, path string, o operation, chain ...gin.HandlerFunc) {
	if len(o.Rights) > 0 && method != http.MethodGet && method != http.MethodHead {
		chain = append([]gin.HandlerFunc{middleware.BeforeBody(s.rightsFirst(o))}, chain...)
	}
	s.Handle(method, path, chain...)
	s.book.all = append(s.book.all, s.described(method, strings.TrimSuffix(s.BasePath(), "/")+path, o))
}

// rightsFirst refuses a caller that has none of the operation's rights: nobody else learns what its body is to be.
func (s section) rightsFirst(o operation) func(c *gin.Context) error {
	var rights []auth.Right
	for _, right := range o.Rights {
		rights = append(rights, auth.Right(right))
	}
	return func(c *gin.Context) error {
		r := request{c: c}
		name, _ := state.ParseName(cmp.Or(r.inPath("project"), r.inPath("name"))) // no other text gets on record
		return s.gate.AuthorizeAny(c.Request.Context(), middleware.Principal(c), rights, string(name))
	}
}

// described completes a description by what all routes of the section have in common.
func (s section) described(method, path string, o operation) openapi.Operation {
	made := o.Operation
	made.Method, made.Path, made.Tag = method, inBraces(path), s.tag
	made.Parameters = slices.Concat(pathParameters(path), o.Parameters)
	for i, p := range made.Parameters {
		if p.Name == attributePrefix {
			made.Parameters[i].Name = "attributes"
		}
	}
	made.Security = s.by.schemes()
	made.Failures = s.failures(slices.Concat(s.common(path, o), s.codes, o.codes))
	return made
}

// inBraces is a route's path as the document has it: as clients send it, with its parameters in
// braces.
func inBraces(path string) string {
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	if of, ok := strings.CutPrefix(path, tenantsPath+":alias/"); ok {
		path = "/:alias/state/" + of
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

func (c caller) schemes() []string {
	switch c {
	case byKey, byAnyKey:
		return []string{"basic", "bearer", "key+organization", "key", "certificate", "session"}
	case byPool:
		return []string{"poolToken"}
	case byAgent:
		return []string{"agentSecret"}
	case byRun:
		return []string{"runToken"}
	}
	return nil
}

// common are codes of faults that come from what stands before a handler.
func (s section) common(path string, o operation) []fault.Code {
	codes := []fault.Code{fault.InternalError}
	if s.by == anybody {
		return codes
	}
	codes = append(codes, fault.CredentialsNeeded, fault.CredentialsWrong, fault.RateLimited, fault.TooManyFailures,
		fault.Overloaded,
		fault.Interrupted, fault.StoreUnavailable, fault.StoreFull)
	if s.by == byKey {
		codes = append(codes, fault.SessionOver, fault.CrossOrigin, fault.SignedInAsOther)
	}
	if s.by != byPool && s.by != byAgent {
		codes = append(codes, fault.KeyExpired, fault.CredentialsRevoked, fault.TokenRefused, fault.AddressRefused,
			fault.RightMissing, fault.RunReadOnly, fault.StateInternal, fault.IssuerUnavailable, fault.Busy)
	}
	if !o.OtherParameters || len(o.queried()) > 0 || strings.Contains(path, ":version") ||
		strings.Contains(path, ":serial") || strings.Contains(path, ":id") {
		codes = append(codes, fault.ParameterInvalid)
	}
	if slices.Contains(o.queried(), "ID") {
		codes = append(codes, fault.LockInvalid)
	}
	if o.Body != nil {
		codes = append(codes, fault.BodyUnreadable, fault.BodyTooSlow, fault.BodyTooLarge, fault.DigestMismatch,
			fault.GzipDamaged, fault.MediaUnsupported)
	}
	if strings.Contains(path, ":name") || strings.Contains(path, ":partition") {
		codes = append(codes, fault.NameInvalid)
	}
	if strings.Contains(path, ":alias") {
		codes = append(codes, fault.AliasUnknown)
	}
	return codes
}

// failures groups codes by the status that they have here, in the order of the catalogue.
func (s section) failures(codes []fault.Code) (all []openapi.Failure) {
	byStatus := map[int]*openapi.Failure{}
	for _, entry := range fault.Catalogue() {
		if !slices.Contains(codes, entry.Code) {
			continue
		}
		usual := middleware.StatusOf(entry.Kind)
		here, ok := s.statuses[entry.Code]
		if !ok {
			here = usual
		}
		add(byStatus, here, entry.Code)
		if at, ok := s.also[entry.Code]; ok {
			add(byStatus, at, entry.Code)
		}
		if here != usual && entry.Code == fault.InternalError { // a panic is answered in the usual way
			add(byStatus, usual, entry.Code)
		}
	}
	for status := http.StatusBadRequest; status < 600; status++ {
		if f := byStatus[status]; f != nil {
			f.Only = len(f.Codes) == 1 && len(f.Instead) == 1 && f.Codes[0] == string(fault.LockHeld)
			all = append(all, *f)
		}
	}
	return all
}

// add adds a code to the failure of a status.
func add(byStatus map[int]*openapi.Failure, status int, code fault.Code) {
	f := byStatus[status]
	if f == nil {
		f = &openapi.Failure{Status: status}
		byStatus[status] = f
	}
	f.Codes = append(f.Codes, string(code))
	switch code {
	case fault.LockHeld:
		f.Instead = append(f.Instead, reflect.TypeFor[api.LockInfo]())
	case fault.LogGap:
		f.Instead = append(f.Instead, reflect.TypeFor[api.LogRefusal]())
	}
}

// Operations describes every route.
func (r Router) Operations() []openapi.Operation { return r.book.all }

// The headings of the document.
const (
	tagStates       = "States"
	tagDialects     = "Other servers' addresses"
	tagHistory      = "History, locks and candidates"
	tagResources    = "Resources"
	tagWorkspaces   = "Workspaces and configurations"
	tagLayers       = "Layers and drift"
	tagProjects     = "Projects"
	tagRuns         = "Runs"
	tagPolicies     = "Policies"
	tagEnclaves     = "Enclaves"
	tagPools        = "Pools of agents"
	tagRepositories = "Repositories"
	tagPulls        = "Pull requests"
	tagExecutors    = "Agents and executors"
	tagUploads      = "Uploads"
	tagCallers      = "Credentials"
	tagKeys         = "Keys"
	tagSessions     = "Sessions"
	tagProbes       = "Probes"

	tagDescription = "Description"
)
