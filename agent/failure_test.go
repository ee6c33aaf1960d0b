package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// What a command says decides whether its run is tried again.
func TestClassOfWhatACommandSays(t *testing.T) {
	diagnostic := func(summary, detail, address string) []api.Diagnostic {
		return []api.Diagnostic{{Severity: "error", Summary: summary, Detail: detail, Address: address}}
	}
	for name, test := range map[string]struct {
		phase string
		out   outcome
		class string
	}{
		"a typo": {phasePlan,
			outcome{summary: summary{found: diagnostic("Unsupported argument", "An argument named \"x\" is not expected here.",
				"")}}, config},
		"a missing module": {phaseInit, outcome{summary: summary{tail: "Error: Module not installed"}}, config},
		"a bad version": {phaseInit,
			outcome{summary: summary{tail: "Error: Failed to query available provider packages\nno available releases match " +
				"the given constraints"}}, config},
		"a registry that is down": {phaseInit,
			outcome{summary: summary{tail: "Error: Failed to query available provider packages\ncould not connect to " +
				"registry.opentofu.org: failed to request discovery document: 503 Service Unavailable"}}, infrastructure},
		"a registry that refuses": {phaseInit,
			outcome{summary: summary{tail: "Error: Failed to install provider\nbad response code: 429"}}, infrastructure},
		"no name service": {phaseInit,
			outcome{summary: summary{tail: "dial tcp: lookup registry.opentofu.org: no such host"}}, infrastructure},
		"a full disk": {phaseInit, outcome{summary: summary{tail: "write /x: no space left on device"}},
			infrastructure},
		"killed": {phasePlan, outcome{exit: Exit{Code: -1, Signal: "killed"}}, infrastructure},
		"a resource that can't be read": {phasePlan,
			outcome{summary: summary{found: diagnostic("AccessDenied", "no permission", "aws_instance.a")}}, provider},
		"an API that is busy": {phasePlan,
			outcome{summary: summary{found: diagnostic("reading", "api error: status code 503", "aws_instance.a")}},
			infrastructure},
		"a lock that a plan speaks of": {phasePlan, outcome{summary: summary{tail: "Error acquiring the state lock"}},
			config},
		"a held lock": {phaseApply,
			outcome{summary: summary{found: diagnostic("Error acquiring the state lock", "held by anna", "")}}, lockHeld},
		"a lock of a tool that a provisioner runs": {phaseApply,
			outcome{summary: summary{work: api.Work{Resources: 1}, tail: "Error acquiring the state lock",
				found: diagnostic("local-exec provisioner error", "exit status 1: Error acquiring the state lock",
					"terraform_data.nested")}}, provider},
		"a lock that what is in flight speaks of": {phaseApply,
			outcome{summary: summary{inFlight: []api.InFlight{{Address: "terraform_data.nested"}},
				tail: "Error acquiring the state lock"}}, provider},
		"an apply that fails": {phaseApply,
			outcome{summary: summary{found: diagnostic("creating", "connection refused", "aws_instance.a")}}, provider},
		"an apply that is killed": {phaseApply, outcome{exit: Exit{Code: -1, Signal: "killed"}}, provider},
	} {
		s := &stage{record: &record{Phase: test.phase}, assignment: api.Assignment{Stage: "plan"}}
		if test.out.exit.Code == 0 {
			test.out.exit.Code = 1
		}
		if r := s.ended(test.out, nil); r.Outcome != failure || r.Class != test.class || r.Message == "" {
			t.Errorf("%s: the report is %s %s %q, wanted the class %s", name, r.Outcome, r.Class, r.Message, test.class)
		}
	}
}

func TestClassOfWhatPreparingMeets(t *testing.T) {
	for _, test := range []struct {
		err   error
		class string
	}{
		{&unusable{"no such directory"}, config},
		{&backend.OtherError{Why: "s3"}, config},
		{fault.New(fault.RunInvalid, "no such tool"), config},
		{fault.New(fault.StoreUnavailable, "not now"), infrastructure},
		{fmt.Errorf("can't write: %w", syscall.ENOSPC), infrastructure},
		{errors.New("connection reset"), infrastructure},
	} {
		if got := classOfPreparing(test.err); got != test.class {
			t.Errorf("%v is of the class %s, wanted %s", test.err, got, test.class)
		}
	}
}

// A lost command is reported as what it is: nobody knows how it ended.
func TestLostCommandIsReported(t *testing.T) {
	s := &stage{record: &record{Phase: phaseApply}}
	r := s.ended(outcome{exit: Exit{Code: -1, Lost: true, Failed: "the machine was started anew since"}}, nil)
	if r.Outcome != failure || !strings.Contains(r.Message, "started anew") {
		t.Errorf("the report is %+v", r)
	}
}

func TestReportsAreBounded(t *testing.T) {
	r := api.PhaseReport{Found: make([]api.Diagnostic, 5000), InFlight: make([]api.InFlight, 5000),
		Message: strings.Repeat("ü", 5000)}
	bound(&r)
	if len(r.Found) != maxFound || len(r.InFlight) != maxInFlight || len(r.Message) > maxMessage+4 {
		t.Errorf("it has %d diagnostics, %d resources, and a message of %d bytes", len(r.Found), len(r.InFlight),
			len(r.Message))
	}
}

// A call is repeated until it is answered for good, as late as the server says.
func TestPersistWaitsAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, calls := slog.New(slog.DiscardHandler), 0
		began := time.Now()
		err := persist(t.Context(), log, "a call", func(context.Context) error {
			switch calls++; calls {
			case 1:
				return errors.New("connection refused")
			case 2:
				busy := fault.New(fault.Overloaded, "too much")
				busy.RetryAfter = 40 * time.Second
				return busy
			}
			return nil
		})
		if took := time.Since(began); err != nil || calls != 3 || took != firstWait+40*time.Second {
			t.Errorf("%d calls take %s, %v", calls, took, err)
		}
		calls = 0
		err = persist(t.Context(), log, "a call",
			func(context.Context) error { calls++; return fault.New(fault.EpochOld, "gone") })
		if !fault.Is(err, fault.EpochOld) || calls != 1 {
			t.Errorf("a refusal is met %d times, %v", calls, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if err := persist(ctx, log, "a call", func(context.Context) error { return errors.New("no") }); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Errorf("it ends with %v", err)
		}
	})
}
