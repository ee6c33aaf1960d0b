package handlers

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// query is what a state's address may say after its "?". Anything else in it is the
// user's own, such as ref=main, and survives.
type query struct {
	lockID string // ID, which clients put on every write under a lock; empty without one
	unlock bool   // also release that lock
	// restorePurged stores bytes that were purged.
	restorePurged bool
}

// readQuery refuses whatever it can't read: a lock ID that got lost would turn a holder's
// write into an unlocked one, and an UNLOCK into a force-unlock.
func readQuery(c *gin.Context) (query, error) {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return query{}, fault.Wrap(err, fault.ParameterInvalid, "the query can't be read; each name and value must be URL-encoded")
	}
	for name := range values {
		if name != "ID" && strings.EqualFold(name, "ID") {
			return query{}, fault.New(fault.ParameterInvalid, "the query has %q; the lock's ID is sent as ID", name)
		}
	}
	id, err := queryLockID(values)
	if err != nil {
		return query{}, err
	}
	unlock, err := queryBool(values, "unlock")
	if err != nil {
		return query{}, err
	}
	restore, err := queryBool(values, "restore_purged")
	return query{lockID: id, unlock: unlock, restorePurged: restore}, err
}

// selection is what a GET of a state's address asks for; the zero selection is the newest
// version, whole.
type selection struct {
	view   state.ViewKind // empty for the exact bytes
	number uint64         // 0 for the newest
}

func readSelection(c *gin.Context) (selection, error) {
	if c.Request.URL.RawQuery == "" {
		return selection{}, nil
	}
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil { // who meant to ask for a view must not get the whole state
		return selection{}, fault.Wrap(err, fault.ParameterInvalid, "the query can't be read; each name and value must be URL-encoded")
	}
	for name := range values { // and ?View= is a misspelt one
		for _, known := range []string{"view", "version"} {
			if name != known && strings.EqualFold(name, known) {
				return selection{}, fault.New(fault.ParameterInvalid, "the query has %q; it is spelt %s", name, known)
			}
		}
	}
	var ask selection
	if given, ok := values["view"]; ok {
		ask.view = state.ViewKind(given[0])
		if len(given) > 1 || ask.view != state.OutputsView && ask.view != state.RedactedView {
			return selection{}, fault.New(fault.ParameterInvalid, "the query's view is neither outputs nor redacted")
		}
	}
	if given, ok := values["version"]; ok {
		ask.number, err = strconv.ParseUint(given[0], 10, 63)
		if len(given) > 1 || err != nil || ask.number == 0 {
			return selection{}, fault.New(fault.ParameterInvalid, "the query's version is not a number of 1 or more")
		}
	}
	return ask, nil
}

func queryLockID(values url.Values) (string, error) {
	ids := values["ID"]
	if len(ids) == 0 {
		return "", nil
	}
	if len(ids) > 1 {
		return "", fault.New(fault.ParameterInvalid, "the query has more than one ID")
	}
	return ids[0], state.CheckLockID(ids[0])
}

func queryBool(values url.Values, name string) (bool, error) {
	texts := values[name]
	if len(texts) == 0 {
		return false, nil
	}
	value, err := strconv.ParseBool(texts[0])
	if err != nil || len(texts) > 1 {
		return false, fault.New(fault.ParameterInvalid, "the query's %s is neither true nor false", name)
	}
	return value, nil
}
