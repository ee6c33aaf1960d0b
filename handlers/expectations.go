package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/state"
)

// expectations shows the states of the organization of which a change is expected.
func (s states) expectations(ctx context.Context, r *request) (answer, error) {
	return s.page(ctx, r, state.StatesQuery{Expected: true})
}

// expect announces a change of a state.
func (s states) expect(ctx context.Context, r *request, name state.Name) (answer, error) {
	r.check(s.service.Permit(ctx, r.caller, auth.ExpectChange, name))
	what, err := announcementIn(r.body())
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := s.service.Expect(ctx, r.caller, name, what)
	if err != nil {
		return nil, err
	}
	return tell(api.Expected{Expectation: expectationOf(&made)}), nil
}

// expected shows what is expected of a state.
func (s states) expected(ctx context.Context, r *request, name state.Name) (answer, error) {
	found, err := s.service.Expected(ctx, r.caller, name)
	return tell(api.Expected{Expectation: expectationOf(found)}), err
}

// unexpect takes back what was announced. To say so again is fine.
func (s states) unexpect(ctx context.Context, r *request, name state.Name) (answer, error) {
	reason, err := mayHaveReason(r.text("reason"))
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	ended, err := s.service.Unexpect(ctx, r.caller, name, reason)
	return tell(api.Expected{Expectation: expectationOf(ended)}), err
}

// announcementIn reads what is announced.
func announcementIn(body []byte) (state.Announcement, error) {
	const members = "the body is one JSON object with findings, a list of emptied and shrunk, for, a time such as 1h, " +
		"and reason, and with nothing else"
	if err := jsonscan.Shape(body, jsonscan.Limits{Depth: 2}); err != nil {
		return state.Announcement{}, fault.Wrap(err, fault.ParameterInvalid, members)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var sent api.Expect
	if err := decoder.Decode(&sent); err != nil {
		return state.Announcement{}, fault.Wrap(err, fault.ParameterInvalid, members)
	}
	what := state.Announcement{}
	for _, name := range sent.Findings {
		if !slices.Contains(state.CanExpect().List(), name) {
			return what, fault.New(fault.ParameterInvalid, "%.40q can't be expected: emptied and shrunk can", name)
		}
		what.Findings |= state.ParseWarnings(name)
	}
	var err error
	if what.For, err = time.ParseDuration(sent.For); err != nil {
		return what, fault.New(fault.ParameterInvalid, "for is not a time such as 30m or 1h")
	}
	what.Reason, err = needsReason(sent.Reason)
	return what, err
}

func expectationOf(e *state.Expectation) *api.Expectation {
	if e == nil {
		return nil
	}
	return &api.Expectation{
		Findings: e.Findings.List(), Since: e.Since, Until: e.Until, Reason: e.Reason,
		KeyID: e.KeyID, KeyName: e.KeyName, Subject: e.Subject, LockID: e.LockID,
	}
}
