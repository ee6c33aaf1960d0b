package agent

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// Whoever is too busy says for how long, each in their own words.
func TestRetryAfterInWhatAToolSays(t *testing.T) {
	now := time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)
	for said, want := range map[string]int{
		"429 Too Many Requests, Retry-After: 30":                                                  30,
		"unexpected status 429 with headers map[Retry-After:[17]]":                                17,
		"Retry-After: Sun, 22 Nov 2026 18:02:00 GMT":                                              120,
		"Retry-After: Sun, 22 Nov 2026 17:02:00 GMT":                                              0, // it is over
		"│ StatusCode=429 -- Code=\"TooManyRequests\"\n│ Please try again after '60'\n│ seconds.": 60,
		"the service is busy: please retry after\n│ 2 minutes":                                    120,
		`{"error":{"code":"throttled","retryAfter":"12s"}}`:                                       12,
		"api error ThrottlingException: Rate exceeded, retry_after=1.2":                           2,
		"API rate limit of 5000 still exceeded [rate reset in 12m30s]":                            750,
		"Retry-After: 5 at first, then Retry-After: 40":                                           40,
		"retry after 250ms":                  1,
		"Retry-After: 999999999999999999999": 3600,
		"connection refused":                 0,
		"an instance of the type r-30 can't be made, try another one": 0,
	} {
		if got := retryAfter(said, now); got != want {
			t.Errorf("%q is taken for %d seconds, wanted %d", said, got, want)
		}
	}
}

// What failed is reported with that where another try may help, by what the errors say and not by
// what is shown of resources.
func TestReportsSayWhenToTryAgain(t *testing.T) {
	const busy = "creating: status code 429, Retry-After: 40"
	errors := func(detail string) summary {
		return summary{found: []api.Diagnostic{{Severity: "error", Summary: "x", Detail: detail, Address: "a.b"}}}
	}
	for name, test := range map[string]struct {
		phase string
		said  summary
		class string
		want  int
	}{
		"a plan": {phasePlan, errors(busy), infrastructure, 40},
		"an init": {phaseInit,
			summary{tail: "Initializing\nError: Failed to install\n\n429 Too Many Requests\nRetry-After: 40"}, infrastructure,
			40},
		"an apply":                {phaseApply, errors(busy), provider, 40},
		"throttling":              {phasePlan, errors("ThrottlingException: Rate exceeded"), infrastructure, 0},
		"an attribute":            {phaseApply, summary{tail: "  + retry_after = 300\nError: no\n"}, provider, 0},
		"the configuration's own": {phasePlan, summary{tail: "Error: Unsupported argument\n retry_after = 300"}, config, 0},
		"a held lock":             {phaseApply, errors("Error acquiring the state lock, Retry-After: 9"), lockHeld, 0},
	} {
		s := &stage{record: &record{Phase: test.phase}}
		if r := s.ended(outcome{exit: Exit{Code: 1}, summary: test.said}, nil); r.Class != test.class ||
			r.RetryAfter != test.want {
			t.Errorf("%s: it is of class %s, to be tried again after %d; wanted %s and %d", name, r.Class, r.RetryAfter,
				test.class, test.want)
		}
	}
	full := fault.New(fault.Overloaded, "too much")
	full.RetryAfter = 90 * time.Second
	if r := refused(t.Context(), "the plan", full); r.RetryAfter != 90 {
		t.Errorf("what the server had no room for is tried again after %d seconds", r.RetryAfter)
	}
}
