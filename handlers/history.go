package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// list shows the organization's states: those that exist, that are deleted, or both.
func (s states) list(c *gin.Context) {
	p := readParams(c, "prefix", "cursor", "limit", "deleted")
	q := state.StatesQuery{Prefix: p.text("prefix")}
	if p.text("deleted") == "any" {
		q.Deleted = state.AnyDeletion
	} else if p.flag("deleted") {
		q.Deleted = state.OnlyDeleted
	}
	s.page(c, p, q)
}

// locks shows the states of the organization whose lock is held.
func (s states) locks(c *gin.Context) {
	s.page(c, readParams(c, "cursor", "limit"), state.StatesQuery{Locked: true})
}

func (s states) page(c *gin.Context, p *params, q state.StatesQuery) {
	q.After, q.Limit = state.Name(p.text("cursor")), p.limit()
	s.lists.answer(c, p, statesBytes(), func(ctx context.Context) (listing, error) {
		page, err := s.service.States(ctx, middleware.Principal(c), q)
		return listingOf(api.States{States: []api.State{}, Next: orNull(string(page.Next))}, "states", page.States, stateOf), err
	})
}

// answer sends what serve returns as JSON, or its error.
func answer(c *gin.Context, serve func() (any, error)) {
	body, err := serve()
	if err == nil {
		err = sendJSON(c, http.StatusOK, body)
	}
	if err != nil {
		middleware.Fail(c, err)
	}
}

// sendJSON makes JSON of the body before anything is sent: what can't be made must not be
// an answer without a body, which says yes to whoever looks at the status alone.
func sendJSON(c *gin.Context, status int, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	c.Data(status, "application/json; charset=utf-8", raw)
	return nil
}

// orNull makes an empty cursor null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// versions describes a state's versions.
func (s states) versions(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		p := readParams(c, "before", "limit")
		before, limit := p.number("before"), p.limit()
		if p.fault != nil {
			return p.fault
		}
		return s.lists.send(c, rowsBytes(limit), func(ctx context.Context) (listing, error) {
			versions, err := s.service.Versions(ctx, middleware.Principal(c), name, before, limit)
			var next *uint64
			if len(versions) == limit && versions[limit-1].Number > 1 {
				next = &versions[limit-1].Number
			}
			return listingOf(api.Versions{Versions: []api.Version{}, Next: next}, "versions", versions, versionOf), err
		})
	})
}

// answer is the function of this name, for a state.
func (s states) answer(c *gin.Context, serve func(state.Name) (any, error)) {
	s.named(c, func(name state.Name) error {
		body, err := serve(name)
		if err != nil {
			return err
		}
		return sendJSON(c, http.StatusOK, body)
	})
}

// version sends the exact bytes of one version.
func (s states) version(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		number, err := pathNumber(c)
		if err != nil {
			return err
		}
		return s.getVersion(c, name, number)
	})
}

// purge destroys the bytes of one version, or of all that have the same, and what the index
// of resources has of them. It says which others have them still.
func (s states) purge(c *gin.Context) {
	s.answer(c, func(name state.Name) (any, error) {
		number, err := pathNumber(c)
		if err != nil {
			return nil, err
		}
		p := readParams(c, "reason", "copies")
		copies := p.flag("copies")
		if p.fault != nil {
			return nil, p.fault
		}
		reason, err := requireReason(p.text("reason"))
		if err != nil {
			return nil, err
		}
		purged, err := s.service.Destroy(c.Request.Context(), middleware.Principal(c), name,
			state.Purging{Number: number, Reason: reason, Copies: copies})
		if len(purged.Destroyed) > 0 && s.index != nil { // also where the caller is told to ask again
			err = cmp.Or(err, s.index.Erase(c.Request.Context(), middleware.Principal(c), name, purged))
		}
		done := api.Purged{Status: success, AlsoIn: purged.AlsoIn, More: purged.More}
		if copies {
			done.Purged = purged.Destroyed
		}
		return done, err
	})
}

// rollback makes the content of an older version the newest.
func (s states) rollback(c *gin.Context) {
	s.answer(c, func(name state.Name) (any, error) {
		number, err := pathNumber(c)
		if err != nil {
			return nil, err
		}
		order, err := readReasoned(c)
		if err != nil {
			return nil, err
		}
		version, err := s.service.Rollback(c.Request.Context(), middleware.Principal(c), name, number, order.Reason, order.LockID)
		return versionOf(version), err
	})
}

// undelete brings a deleted state back.
func (s states) undelete(c *gin.Context) {
	s.answer(c, func(name state.Name) (any, error) {
		version, err := s.service.Undelete(c.Request.Context(), middleware.Principal(c), name)
		return versionOf(version), err
	})
}

// release frees somebody else's lock.
func (s states) release(c *gin.Context) {
	s.answer(c, func(name state.Name) (any, error) {
		order, err := readReasoned(c)
		if err != nil {
			return nil, err
		}
		released, err := s.service.ForceUnlock(c.Request.Context(), middleware.Principal(c), name,
			state.Forcing{LockID: order.LockID, Reason: order.Reason})
		return api.Released{Status: success, Released: lockOf(released)}, err
	})
}

// events shows the audit log.
func (s states) events(c *gin.Context) {
	p := readParams(c, "action", "state", "key", "since", "until", "before", "limit")
	q := audit.Query{
		Action: audit.Action(p.text("action")), State: p.text("state"), KeyID: p.text("key"),
		Since: p.time("since"), Until: p.time("until"), Before: p.number("before"), Limit: p.limit(),
	}
	s.lists.answer(c, p, rowsBytes(q.Limit), func(ctx context.Context) (listing, error) {
		page, err := s.service.Events(ctx, middleware.Principal(c), q)
		var below *uint64
		if page.Next > 0 {
			below = &page.Next
		}
		return listingOf(api.Events{Events: []api.Event{}, Next: below}, "events", page.Events, eventOf), err
	})
}

// success is the status of every answer that is no failure.
const success = "success"

// pathNumber reads the version's number from the path.
func pathNumber(c *gin.Context) (uint64, error) {
	number, err := strconv.ParseUint(pathValue(c, "version"), 10, 63)
	if err != nil || number == 0 {
		return 0, fault.New(fault.ParameterInvalid, "a version is a number of 1 or more")
	}
	return number, nil
}

// pathCandidate reads the candidate's ID from the path.
func pathCandidate(c *gin.Context) (string, error) {
	id := pathValue(c, "id")
	if !state.IsCandidateID(id) {
		return "", fault.New(fault.ParameterInvalid, "a candidate's ID has %d hexadecimal digits", state.CandidateIDLength)
	}
	return id, nil
}
