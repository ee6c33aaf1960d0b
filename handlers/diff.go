package handlers

import (
	"github.com/gin-gonic/gin"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// diff shows how a version differs from an older one.
func (s states) diff(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		number, err := pathNumber(c)
		if err != nil {
			return err
		}
		p := readParams(c, "against", "format", "sensitive")
		ask := state.DiffQuery{Number: number, Against: p.number("against"), DiffOptions: diffOptions(p)}
		if p.fault != nil {
			return p.fault
		}
		d, err := s.service.Diff(c.Request.Context(), middleware.Principal(c), name, ask)
		if err != nil {
			return err
		}
		return sendRendered(c, diffMedia(ask.DiffOptions), d)
	})
}

// candidateDiff shows how a candidate differs from the newest version.
func (s states) candidateDiff(c *gin.Context) {
	s.named(c, func(name state.Name) error {
		id, err := pathCandidate(c)
		if err != nil {
			return err
		}
		p := readParams(c, "format", "sensitive")
		ask := diffOptions(p)
		if p.fault != nil {
			return p.fault
		}
		d, err := s.service.CandidateDiff(c.Request.Context(), middleware.Principal(c), name, id, ask)
		if err != nil {
			return err
		}
		return sendRendered(c, diffMedia(ask), d)
	})
}

func diffOptions(p *params) state.DiffOptions {
	return state.DiffOptions{Sensitive: p.flag("sensitive"), Text: p.choice("format", "json", "text") == "text"}
}

func diffMedia(o state.DiffOptions) string {
	if o.Text {
		return "text/plain; charset=utf-8"
	}
	return "application/json"
}
