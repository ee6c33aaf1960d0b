package handlers

import (
	"context"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
)

// chain verifies a part of the audit log.
func (s states) chain(ctx context.Context, r *request) (answer, error) {
	c := audit.Check{After: r.mark("after"), Kept: r.mark("kept"), Limit: r.limit()}
	r.check(s.service.PermitAll(ctx, r.caller, auth.ReadAudit))
	return s.lists.answer(ctx, r, rowsBytes(c.Limit+1), func() (listing, error) {
		v, err := s.service.VerifyChain(ctx, r.caller, c)
		made := api.AuditChain{
			First: v.Chain.First, Entries: v.Chain.Place, Head: markOrNull(v.Chain.Head), Removed: startOrNull(v.Chain.Removed),
			Checked: v.Checked, Breaks: []api.ChainBreak{}, Next: markOrNull(v.Next),
		}
		return listing{answer: made, list: "breaks", items: eachRendered(v.Breaks, breakOf)}, err
	})
}

// mark is an entry of the audit log in the query; zero without one.
func (r *request) mark(name string) (m audit.Mark) {
	text := r.text(name)
	if text == "" {
		return audit.Mark{}
	}
	m, err := audit.ParseMark(text)
	if err != nil {
		r.invalid("the query's %s: %v", name, err)
	}
	return m
}

func markOrNull(m audit.Mark) *string {
	if m == (audit.Mark{}) {
		return nil
	}
	text := m.String()
	return &text
}

func startOrNull(c audit.Checkpoint) *api.AuditStart {
	if c.Sequence == 0 {
		return nil
	}
	return &api.AuditStart{Entry: c.Mark.String(), Count: c.Place, At: c.At}
}

func breakOf(b audit.Break) api.ChainBreak {
	return api.ChainBreak{Sequence: b.Sequence, Damage: string(b.Damage), Says: b.Says}
}
