package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// Deciders are the services outside that organizations have asked about their plans.
type Deciders interface {
	// Decider reports whether an organization has one, and whether its plans are applied where that doesn't answer.
	Decider(org uuid.UUID) (failOpen, some bool)
	// Ask returns what it answers, as it came. The error's text is for the organization.
	Ask(ctx context.Context, org uuid.UUID, question api.DecisionQuestion) (answer []byte, err error)
}

const (
	// outsidePatience is for one try, with what is found out about the plan before.
	outsidePatience = 50 * time.Second
	// outsideLease is when somebody else asks, because nothing was heard of who did.
	outsideLease = 90 * time.Second
	// maxAsking is how many services are asked at once, and maxOwnAsking those of one organization.
	maxAsking, maxOwnAsking = 16, 4
)

// askOutside has the run's service asked in the background, where there is a place for that. Only one node does so
// at a time.
func (s *Service) askOutside(ctx context.Context, run Run) error {
	_, some := s.decider(run.Org)
	if !some {
		_, err := s.update(ctx, run.Ref(), s.by(Server()).undecided())
		return err
	}
	release, ok := s.asking.TryAcquire(run.Org)
	if !ok {
		return nil // the next sweep finds it
	}
	claimed, err := s.update(ctx, run.Ref(), s.by(Server()).asks())
	if err != nil {
		release()
		return ignore(err, fault.RunStatus)
	}
	s.asked.Go(func() {
		defer release()
		s.decideOutside(ctx, claimed)
	})
	return nil
}

// Rest waits until nobody asks services outside any more. Whoever calls it has ended the context of Sweep, or waits
// for as long as that takes.
func (s *Service) Rest() { s.asked.Wait() }

func (s *Service) decider(org uuid.UUID) (failOpen, some bool) {
	if s.Deciders == nil {
		return false, false
	}
	return s.Deciders.Decider(org)
}

// decideOutside asks once, and records what came of it. A server that ends records nothing: it is asked again.
func (s *Service) decideOutside(ctx context.Context, run Run) {
	answer, err := s.askOnce(ctx, run)
	if ctx.Err() != nil {
		return
	}
	found := outsideAnswer{digest: run.Pin.Digest, try: run.Outside.Tries}
	found.failOpen, _ = s.decider(run.Org)
	if err == nil {
		found.approved, found.reason, err = readDecision(answer)
	}
	if err != nil {
		found.failed, found.reason = true, cut(err.Error(), maxDetail)
		s.Log.WarnContext(ctx, "a service outside has not decided on a plan", "run", run.ID, "try", found.try, "error", err)
	}
	entry := s.entry(audit.Server(), audit.RunDecide, run, found.reason)
	entry.Note += ": " + found.state()
	if _, err = s.update(ctx, run.Ref(), onRecord(entry, s.by(Server()).answered(found))); err != nil {
		s.Log.ErrorContext(ctx, "what a service outside has decided is not recorded; it is asked again", "run", run.ID,
			"error", err)
	}
}

func (s *Service) askOnce(ctx context.Context, run Run) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, outsidePatience)
	defer stop()
	question, err := s.question(ctx, run)
	if err != nil {
		s.Log.WarnContext(ctx, "what a plan means is not known, and nobody is asked about it yet", "run", run.ID, "error", err)
		return nil, errors.New("what the plan means could not be found out in time")
	}
	return s.Deciders.Ask(ctx, run.Org, question)
}

// question is what is asked about a run's plan.
func (s *Service) question(ctx context.Context, run Run) (api.DecisionQuestion, error) {
	q := api.DecisionQuestion{
		ID:  uuid.NewSHA1(run.Org, []byte("decision "+run.ID+" "+run.Pin.Digest)).String(),
		Org: run.Org.String(), Run: run.ID, Workspace: run.Workspace, Kind: string(run.Kind), Message: run.Order.Message,
		Trigger: run.Trigger.Wire(), PlanDigest: run.Pin.Digest, StateVersion: run.Base.Version, Counts: run.Counts,
		Gates: run.Gates,
	}
	if s.Insights == nil || len(run.Pin.Unchecked) > 0 {
		return q, nil
	}
	policies, err := s.policies(ctx, run)
	if err != nil {
		return q, err
	}
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FilePlanJSON, run.Planned})
	if err != nil {
		return q, ignore(err, fault.RunFileNotFound)
	}
	plan, err := s.planJSON(ctx, run, file)
	if err != nil {
		return q, err
	}
	q.Insight, err = s.Insights.Told(ctx, plan, policies)
	if err != nil && fault.From(err).Code.Kind() != fault.Invalid && fault.From(err).Code.Kind() != fault.TooLarge {
		return q, err
	}
	return q, nil
}

// readDecision reads an answer: one JSON object with a decision.
func readDecision(answer []byte) (approved bool, reason string, err error) {
	var a api.DecisionAnswer
	decoder := json.NewDecoder(bytes.NewReader(answer))
	if decoder.Decode(&a) != nil || !errors.Is(decoder.Decode(&struct{}{}), io.EOF) {
		return false, "", errors.New("the answer was not JSON with a decision")
	}
	if a.Decision != decisionApproved && a.Decision != decisionRejected {
		return false, "", errors.New("the answer was neither " + decisionApproved + " nor " + decisionRejected)
	}
	return a.Decision == decisionApproved, cut(oneLine(a.Reason), maxDetail), nil
}

const (
	decisionApproved = "APPROVED"
	decisionRejected = "REJECTED"
)

// oneLine has no characters that do something to a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// isOutsideDue reports whether a service outside is to be asked about the run now.
func (s *Service) isOutsideDue(run Run) bool {
	now := s.clock()
	return run.Status == AwaitingApproval && run.Outside.isAsked() && !run.Outside.Next.After(now) && !run.expired(now)
}
