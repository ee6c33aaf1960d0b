package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// The classes of failures: they decide whether a run is tried again.
const (
	infrastructure = "infrastructure"
	lockHeld       = "lock_held"
	config         = "config"
	provider       = "provider"
	sandboxLow     = "sandbox"
)

// classOfPreparing is the class of what went wrong before there was a command.
func classOfPreparing(err error) string {
	if _, ok := errors.AsType[*unusable](err); ok {
		return config
	}
	if _, ok := errors.AsType[*backend.OtherError](err); ok {
		return config
	}
	if isFinal(err) {
		return config
	}
	return infrastructure
}

// reason is what went wrong, for people.
func reason(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	if errors.Is(err, syscall.ENOSPC) {
		return "the agent's disk is full"
	}
	return err.Error()
}

// report is how a command's end is told.
func (s *stage) ended(out outcome, err error) api.PhaseReport {
	if err != nil {
		return failed(infrastructure, "the command could not be run: "+reason(err))
	}
	r := api.PhaseReport{
		Outcome: succeeded, ExitCode: out.exit.Code, Tool: s.record.Tool, Sandbox: out.sandbox,
		Found: out.summary.found, InFlight: out.summary.inFlight, Work: out.summary.work,
	}
	switch {
	case out.exit.Lost:
		r.Outcome, r.Class, r.Message = failure, infrastructure, "nobody saw how the command ended: "+out.exit.Failed
	case out.exit.Code == 0 && out.exit.Signal == "":
	case out.exit.TooWeak:
		r.Outcome, r.Class, r.Message = failure, sandboxLow, out.exit.Failed
	case out.exit.Failed != "":
		r.Outcome, r.Class, r.Message = failure, infrastructure, "the command could not be started: "+out.exit.Failed
	case out.exit.Exceeded != "":
		r.Outcome, r.Class, r.Message = failure, config, "the command was ended: "+out.exit.Exceeded
	case s.record.TimedOut:
		r.Outcome, r.Class = failure, config
		r.Message = fmt.Sprintf("the stage took longer than the %d seconds that it may take", s.assignment.Timeout)
	case s.record.TooLarge:
		r.Outcome, r.Class, r.Message = failure, config, s.tooLarge()
	case out.interrupted:
		r.Outcome, r.Message = cancelled, "the command ended early, as it was asked to"
	default:
		r.Outcome, r.Class, r.Message = failure, s.classOf(out), s.messageOf(out)
		if r.Class == infrastructure || r.Class == provider {
			r.RetryAfter = retryAfter(complaints(out), time.Now())
		}
	}
	return r
}

// passing matches what another try may not meet: the network, a registry, a disk. What a tool
// says is its own wording, and that of the systems below it.
func passing() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no space left on device|connection refused|connection reset|i/o timeout|TLS handshake timeout|no such host|` +
		`temporary failure in name resolution|network is unreachable|context deadline exceeded|Client\.Timeout|unexpected EOF|` +
		`(?:status|code|error|returned|response)[^\n]{0,40}\b(?:429|500|502|503|504)\b|too many requests|throttl(?:ed|ing)|\brate (?:limit )?exceeded|rateLimitExceeded|RequestLimitExceeded|could not connect to|failed to request discovery document`)
}

// classOf is the class of a command's failure, by what it said.
func (s *stage) classOf(out outcome) string {
	said := out.summary.tail
	about := false // a resource
	for _, d := range out.summary.found {
		said += "\n" + d.Summary + "\n" + d.Detail
		about = about || d.Severity == "error" && d.Address != ""
	}
	begun := out.summary.work.Resources > 0 || len(out.summary.inFlight) > 0
	switch {
	// A plan takes no lock: what says so there is the configuration's own text. So it is in an apply that has begun with
	// a resource, which has the lock.
	case s.record.Phase == phaseApply && !begun &&
		(strings.Contains(said, "Error acquiring the state lock") || strings.Contains(said, "Error locking state")):
		return lockHeld
	case s.record.Phase == phaseApply:
		return provider
	case out.exit.Signal != "" || passing().MatchString(said):
		return infrastructure
	case about:
		return provider
	}
	return config
}

// messageOf is the first error that the command told, or how it ended.
func (s *stage) messageOf(out outcome) string {
	for _, d := range out.summary.found {
		if d.Severity == "error" {
			return d.Summary
		}
	}
	if i := strings.LastIndex(out.summary.tail, "Error: "); i >= 0 {
		line, _, _ := strings.Cut(out.summary.tail[i+len("Error: "):], "\n")
		return strings.TrimSpace(line)
	}
	if out.exit.OutOfMemory {
		return "the command was killed because the machine ran out of memory"
	}
	if out.exit.Signal != "" {
		return "the command was ended by a signal: " + out.exit.Signal
	}
	return fmt.Sprintf("the command ended with code %d", out.exit.Code)
}

// refused is the report of a result that the server doesn't take.
func refused(ctx context.Context, what string, err error) api.PhaseReport {
	class := infrastructure
	if isFinal(err) {
		class = config
	}
	r := failed(class, what+" was not accepted: "+reason(err))
	if f, ok := errors.AsType[*fault.Error](err); ok && class == infrastructure {
		r.RetryAfter = int(min(f.RetryAfter, maxRetryAfter).Seconds())
	}
	return r
}

// What a report has of each at most.
const (
	maxFound    = 100
	maxInFlight = 1000
	maxMessage  = 2000
)

func bound(r *api.PhaseReport) {
	r.Found = r.Found[:min(len(r.Found), maxFound)]
	r.InFlight = r.InFlight[:min(len(r.InFlight), maxInFlight)]
	if len(r.Message) > maxMessage {
		r.Message = strings.ToValidUTF8(r.Message[:maxMessage], "") + "…"
	}
}
