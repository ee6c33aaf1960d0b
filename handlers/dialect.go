package handlers

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Aliases says what other servers call an organization. *authfile.Watcher is one.
type Aliases interface {
	// Alias returns the folder in front of the names of states that the organization has under
	// the alias, if that is one of its own. Whose else it may be, it doesn't tell.
	Alias(org uuid.UUID, id string) (folder state.Name, ok bool)
}

// dialect is one way to spell what Terraform and OpenTofu ask of a server: the addresses of a
// state, and where the answers differ. The same handlers serve all of them, with the same
// rules; a new one is a line of the table below.
type dialect struct {
	name string // as the setting has it; empty for Holdfast's own, which is always spoken
	path string // of a state, with the router's parameters
	// routed returns the router's address for one that clients send, which is another one only
	// where the router could not tell them from others; nil where that never is.
	routed func(escaped string) string
	// lock is the address of the lock behind the state's, which POST locks and DELETE unlocks;
	// empty for none.
	lock string
	// verbs has LOCK and UNLOCK on the state's own address; puts has PUT wherever POST is.
	verbs, puts bool
	// serials has the versions of a state behind its address, each by its serial: GET sends
	// one, and DELETE purges it. So no two writers may use the same one.
	serials bool
	// keepsNewest has that spare the newest version.
	keepsNewest bool
	read        func(*request) (state.Name, error) // of the name, where no alias stands in the address

	absent  int // where there is no state
	removed int // to a DELETE where there never was one
	stored  int // to a write
	// refused is the status of a fault, where it isn't that of its kind; unnamed likewise for what
	// is written without the ID of a lock, nil where that makes no difference.
	refused, unnamed map[fault.Code]int
}

// statuses returns those of a request's faults, where they aren't those of their kinds.
func (d dialect) statuses(c *gin.Context) map[fault.Code]int {
	if d.unnamed != nil && c.FullPath() == d.path && c.Query(lockIDParameter) == "" {
		return d.unnamed
	}
	return d.refused
}

// native is Holdfast's own spelling; see routedPath.
func native() dialect {
	return dialect{
		path: "/api/v1/state/:name", lock: "/-/" + state.LockSegment, verbs: true, puts: true, read: nativeName,
		absent: http.StatusNotFound, removed: http.StatusNotFound, stored: http.StatusOK,
	}
}

// suffix is what the IDs of the spelling's routes end with.
func (d dialect) suffix() string {
	if d.name == "" {
		return ""
	}
	return "At" + strings.ToUpper(d.name[:1]) + d.name[1:]
}

// dialects are those of other servers, as clients of theirs are configured.
func dialects() []dialect {
	return []dialect{
		{
			name: "partition", path: "/terraform/state/:enclave/:partition", lock: "/lock", verbs: true, puts: true,
			read:   partitionName,
			absent: http.StatusNoContent, removed: http.StatusOK, stored: http.StatusOK,
		},
		{
			name: "gitlab", path: "/api/v4/projects/:alias/terraform/state/:name", lock: "/lock", serials: true,
			absent: http.StatusNoContent, removed: http.StatusNotFound, stored: http.StatusOK,
			refused: map[fault.Code]int{fault.LockMismatch: http.StatusConflict, fault.WriteHeld: http.StatusUnprocessableEntity,
				fault.StateInvalid: http.StatusUnprocessableEntity},
		},
		{
			name: "gitea", path: "/api/packages/:alias/terraform/state/:name", lock: "/lock", serials: true, keepsNewest: true,
			absent: http.StatusNotFound, removed: http.StatusNotFound, stored: http.StatusCreated,
			refused: map[fault.Code]int{fault.LockHeld: http.StatusLocked, fault.LockMismatch: http.StatusLocked},
		},
		{
			name: "nimbolus", path: "/state/:alias/:name", verbs: true,
			absent: http.StatusNoContent, removed: http.StatusOK, stored: http.StatusOK,
			refused: map[fault.Code]int{fault.LockHeld: http.StatusLocked},
		},
		{
			name: "devpro", path: tenantsPath + ":alias/:name", routed: routedTenant, lock: "/lock",
			absent: http.StatusNoContent, removed: http.StatusOK, stored: http.StatusOK,
			refused: map[fault.Code]int{fault.LockMismatch: http.StatusConflict},
			unnamed: map[fault.Code]int{fault.LockHeld: http.StatusLocked},
		},
	}
}

// tenantsPath is what the router has in front of addresses that clients begin with a tenant.
const tenantsPath = "/-/state/"

// routedTenant returns the router's path for a tenant's, which could begin with anything:
//
//	/acme/state/network/lock   /-/state/acme/network/lock
//
// What begins as other addresses do is none.
func routedTenant(escaped string) string {
	tenant, rest, _ := strings.Cut(strings.TrimPrefix(escaped, "/"), "/")
	name, ok := strings.CutPrefix(rest, "state/")
	if !ok {
		return escaped
	}
	switch tenant {
	case "", "-", "api", "enclaves", "state", "terraform":
		return escaped
	}
	return tenantsPath + tenant + "/" + name
}

// Dialects returns the names of all spellings beside Holdfast's own.
func Dialects() (names []string) {
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	return names
}

// covers reports whether a path is in the corner of the server where the dialect has its
// addresses, whether or not it is one of them.
func (d dialect) covers(path string) bool {
	for _, part := range strings.Split(strings.TrimPrefix(d.path, "/"), "/") {
		var given string
		given, path, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if part == ":name" {
			return true
		}
		if part[0] != ':' && part != given {
			return false
		}
	}
	return true
}

// stateName reads the name of the state that a request is about.
func (s states) stateName(r *request) (state.Name, error) {
	if s.spelling.read != nil {
		return s.spelling.read(r)
	}
	return s.aliased(r)
}

// aliased reads the name of a state in the folder of the alias in front of it. An alias is looked
// for among the caller's own alone, so that one of another organization's is as unknown as one of
// nobody's. That must not be 404, which clients take for a state that is not there yet.
func (s states) aliased(r *request) (state.Name, error) {
	name, err := state.ParseName(r.inPath("name"))
	if err != nil {
		return "", err
	}
	folder, ok := s.folder(r)
	if !ok {
		return "", s.service.Denied(r.c.Request.Context(), r.caller, fault.New(fault.AliasUnknown,
			"the organization goes by no such alias; the lines `alias = ` of its section in auth.cfg say by which it does"))
	}
	if folder != "" {
		return state.ParseName(string(folder + "/" + name))
	}
	return name, nil
}

func (s states) folder(r *request) (state.Name, bool) {
	if s.aliases == nil {
		return "", false
	}
	return s.aliases.Alias(r.caller.Org, r.inPath("alias"))
}

func nativeName(r *request) (state.Name, error) { return state.ParseName(r.inPath("name")) }

func partitionName(r *request) (state.Name, error) {
	enclave, err := state.ParseSegment(r.inPath("enclave"))
	if err != nil {
		return "", err
	}
	partition, err := state.ParseSegment(r.inPath("partition"))
	if err != nil {
		return "", err
	}
	return state.ParseName(string(enclave + "/" + partition))
}
