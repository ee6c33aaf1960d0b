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
		ask := state.DiffQuery{Number: number, Against: p.number("against"), Sensitive: p.flag("sensitive")}
		format := p.choice("format", "json", "text")
		if p.fault != nil {
			return p.fault
		}
		d, err := s.service.Diff(c.Request.Context(), middleware.Principal(c), name, ask)
		if err != nil {
			return err
		}
		defer d.Close()
		return sendDiff(c, d, format)
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
		format, sensitive := p.choice("format", "json", "text"), p.flag("sensitive")
		if p.fault != nil {
			return p.fault
		}
		d, err := s.service.CandidateDiff(c.Request.Context(), middleware.Principal(c), name, id, sensitive)
		if err != nil {
			return err
		}
		defer d.Close()
		return sendDiff(c, d, format)
	})
}

func sendDiff(c *gin.Context, d *state.Difference, format string) error {
	if format == "text" {
		return stream(c, "text/plain; charset=utf-8", d.WriteText)
	}
	return stream(c, "application/json", d.WriteJSON)
}
