package handlers

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// candidates lists what was held back or brought, the newest first.
func (s states) candidates(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		p := readParams(c, "cursor", "limit")
		after, limit := p.text("cursor"), p.limit()
		if _, given := p.values["cursor"]; given && !state.IsCandidateID(after) && p.fault == nil {
			p.fault = fault.New(fault.CursorInvalid, "the cursor is not one that this server gave")
		}
		if p.fault != nil {
			return p.fault
		}
		return s.lists.send(c, rowsBytes(limit+state.MaxOpenCandidates), func(ctx context.Context) (listing, error) {
			page, next, err := s.service.Candidates(ctx, middleware.Principal(c), name, after, limit)
			return listingOf(api.Candidates{Candidates: []api.Candidate{}, Next: orNull(next)}, "candidates", page, candidateOf), err
		})
	})
}

// addCandidate keeps a body such as an errored.tfstate.
func (s states) addCandidate(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		p := readParams(c, "reason")
		if p.fault != nil {
			return p.fault
		}
		reason, err := optionalReason(p.text("reason"))
		if err != nil {
			return err
		}
		made, err := s.service.AddCandidate(c.Request.Context(), middleware.Principal(c), name, middleware.Body(c), reason)
		if err == nil {
			err = sendJSON(c, http.StatusCreated, candidateOf(made))
		}
		return err
	})
}

// candidate sends the exact bytes of an open one, and describes a settled one.
func (s states) candidate(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		id, err := pathCandidate(c)
		if err != nil {
			return err
		}
		found, err := s.service.Candidate(c.Request.Context(), middleware.Principal(c), name, id)
		if err != nil {
			return err
		}
		defer found.Release()
		if found.Status != state.Open {
			c.JSON(http.StatusOK, candidateOf(found.Candidate))
			return nil
		}
		sendBody(c, "application/json", found.Body)
		return nil
	})
}

// promote makes a candidate the newest version.
func (s states) promote(c *gin.Context) {
	s.answer(c, func(name state.Name) (any, error) {
		id, err := pathCandidate(c)
		if err != nil {
			return nil, err
		}
		order, err := readReasoned(c)
		if err != nil {
			return nil, err
		}
		version, err := s.service.Promote(c.Request.Context(), middleware.Principal(c), name, id,
			state.Decision{Reason: order.Reason, LockID: order.LockID, Anyway: order.Anyway, RestorePurged: order.RestorePurged})
		return versionOf(version), err
	})
}

// discard ends a candidate.
func (s states) discard(c *gin.Context) {
	s.answer(c, func(name state.Name) (any, error) {
		id, err := pathCandidate(c)
		if err != nil {
			return nil, err
		}
		order, err := readOrder(c)
		if err != nil {
			return nil, err
		}
		if order.Reason, err = optionalReason(order.Reason); err != nil {
			return nil, err
		}
		return api.Done{Status: success}, s.service.Discard(c.Request.Context(), middleware.Principal(c), name, id, order.Reason)
	})
}
