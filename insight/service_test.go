package insight_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/runs"
)

// plans is the plan of every run.
type plans struct {
	digest string
	size   int64
	opened int
	open   func() io.Reader
}

func (p *plans) PlanJSON(_ context.Context, caller auth.Principal, _ string) (runs.PlanJSON, error) {
	return runs.PlanJSON{Org: caller.Org, Digest: p.digest, Size: p.size, Open: func() io.Reader {
		p.opened++
		return p.open()
	}}, nil
}

func caller() auth.Principal { return auth.Principal{Org: uuid.New()} }

// TestServiceRemembersPlans: a plan is looked at once, by its digest and for its organization.
func TestServiceRemembersPlans(t *testing.T) {
	raw := insighttest.JSON(typical()...)
	p := &plans{digest: "a", size: int64(len(raw)), open: func() io.Reader { return bytes.NewReader(raw) }}
	s, me := insight.NewService(p, nil, nil, today), caller()
	ask := func(who auth.Principal, opened int) {
		t.Helper()
		text, err := s.OfRun(t.Context(), who, "r")
		var all api.Insight
		if err != nil || json.Unmarshal(text, &all) != nil || !all.Security.ShouldApprove {
			t.Errorf("%v: %s", err, text)
		}
		if p.opened != opened {
			t.Errorf("it was opened %d times, not %d", p.opened, opened)
		}
	}
	ask(me, 1)
	ask(me, 1)
	ask(caller(), 2)
	p.digest = "b"
	ask(me, 3)
}

// TestServiceRefuses: what is too large, or no plan, is refused, and nothing is remembered of it.
func TestServiceRefuses(t *testing.T) {
	p := &plans{digest: "a", size: 1 << 40, open: func() io.Reader { return strings.NewReader("{}") }}
	s := insight.NewService(p, nil, nil, today)
	if _, err := s.OfRun(t.Context(), caller(), "r"); !fault.Is(err, fault.PlanJSONTooLarge) || p.opened > 0 {
		t.Errorf("%v, opened %d times", err, p.opened)
	}
	p.size = 2
	for range 2 {
		if _, err := s.OfRun(t.Context(), caller(), "r"); !fault.Is(err, fault.PlanJSONInvalid) {
			t.Error(err)
		}
	}
}

// stuck is a reader that gives nothing until it is told to end.
type stuck struct{ begun, end chan struct{} }

func (s stuck) Read([]byte) (int, error) {
	s.begun <- struct{}{}
	<-s.end
	return 0, io.ErrUnexpectedEOF
}

// TestServiceLeavesAPlaceToOthers: whatever one organization asks for, another one's plan is looked
// at.
func TestServiceLeavesAPlaceToOthers(t *testing.T) {
	raw := insighttest.JSON(typical()...)
	s := stuck{make(chan struct{}, 8), make(chan struct{})}
	greedy, first := caller(), true
	p := &plans{digest: "a", size: 1}
	p.open = func() io.Reader {
		if first {
			first = false
			return s
		}
		return bytes.NewReader(raw)
	}
	service := insight.NewService(p, nil, nil, today)
	done := make(chan error, 1)
	go func() {
		_, err := service.OfRun(t.Context(), greedy, "r")
		done <- err
	}()
	<-s.begun
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := service.OfRun(ctx, greedy, "r"); err == nil {
		t.Error("the greedy one has both places")
	}
	if _, err := service.OfRun(t.Context(), caller(), "r"); err != nil {
		t.Errorf("another one is not served: %v", err)
	}
	close(s.end)
	if err := <-done; err == nil {
		t.Error("a plan that broke off has an insight")
	}
}

// TestServiceHolds: gates are asked about the same insight that people are shown; a plan that can't be
// read is no plan that is let through.
func TestServiceHolds(t *testing.T) {
	raw := insighttest.JSON(typical()...)
	p := &plans{digest: "a", size: int64(len(raw)), open: func() io.Reader { return bytes.NewReader(raw) }}
	s, me := insight.NewService(p, nil, nil, today), caller()
	plan, err := p.PlanJSON(t.Context(), me, "r")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		gates runs.Gates
		want  string
	}{
		"findings": {runs.Gates{Severity: "high"}, "1 finding of high or critical severity"},
		"critical": {runs.Gates{Severity: "critical"}, ""},
		"data":     {runs.Gates{Irreversible: true}, "1 change that can't be undone"},
		"cost":     {runs.Gates{MonthlyCost: 50}, "a cost of +$69.20 a month, where $50 more are let through"},
		"cheap":    {runs.Gates{MonthlyCost: 70}, ""},
	} {
		verdict, err := s.Held(t.Context(), plan, c.gates, nil)
		text := ""
		for _, r := range verdict.Reasons {
			text += r.Reason
		}
		if err != nil || text != c.want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if p.opened != 1 {
		t.Errorf("it was opened %d times", p.opened)
	}
	plan.Digest, plan.Open = "b", func() io.Reader { return strings.NewReader("{}") }
	if _, err := s.Held(t.Context(), plan, runs.Gates{Severity: "high"}, nil); !fault.Is(err, fault.PlanJSONInvalid) {
		t.Errorf("no plan: %v", err)
	}
}

// TestServiceWaitsForNoPlace: where nobody waits, a plan whose organization's place among the gates is taken is told to
// come again.
func TestServiceWaitsForNoPlace(t *testing.T) {
	s := stuck{make(chan struct{}, 8), make(chan struct{})}
	p := &plans{digest: "a", size: 1, open: func() io.Reader { return s }}
	service := insight.NewService(p, nil, nil, today)
	plan, err := p.PlanJSON(t.Context(), caller(), "r")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	held := func(ctx context.Context) error {
		_, err := service.Held(ctx, plan, runs.Gates{Severity: "high"}, nil)
		return err
	}
	go func() { done <- held(t.Context()) }()
	<-s.begun
	if err := held(budget.AtOnce(t.Context())); !fault.Is(err, fault.Overloaded) {
		t.Errorf("it says %v", err)
	}
	close(s.end)
	<-done
}

// TestGatesWaitForNobodyWhoAsks: whoever asks for an insight takes no place of a gate's.
func TestGatesWaitForNobodyWhoAsks(t *testing.T) {
	s := stuck{make(chan struct{}, 8), make(chan struct{})}
	p := &plans{digest: "a", size: 1, open: func() io.Reader { return s }}
	service := insight.NewService(p, nil, nil, today)
	done := make(chan error, 1)
	go func() {
		_, err := service.OfRun(t.Context(), caller(), "r")
		done <- err
	}()
	<-s.begun
	plan, err := (&plans{digest: "b", size: 1, open: func() io.Reader { return strings.NewReader("{}") }}).
		PlanJSON(t.Context(), caller(), "r")
	if err == nil {
		_, err = service.Held(budget.AtOnce(t.Context()), plan, runs.Gates{Severity: "high"}, nil)
	}
	if !fault.Is(err, fault.PlanJSONInvalid) {
		t.Errorf("it says %v", err)
	}
	close(s.end)
	<-done
}
