package runs

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Create makes a run that waits for its turn. A repeated call with the same key is given the run
// of the first one. Faults: RunInvalid, RunsFull, DestroyProtected, ApprovalNeeded, ToolUnavailable.
func (s *Service) Create(ctx context.Context, p auth.Principal, order api.RunOrder, key string) (Run, error) {
	return s.ordered(ctx, p, order, key, func(*Order) {})
}

// CreateAlone is Create of a run that goes on from a plan that somebody has seen, if there is one, and is made only
// where no other run of its workspace goes on. Faults: those of Create, RunInProgress.
func (s *Service) CreateAlone(ctx context.Context, p auth.Principal, order api.RunOrder, planRun,
	key string) (Run, error) {
	return s.ordered(ctx, p, order, key, func(o *Order) { o.PlanRun, o.Alone = planRun, true })
}

// CreateOfPull is Create of a run of a pull request: of a snapshot beside those of its workspace, which no
// other run is made of. Only who looks after pull requests calls it.
func (s *Service) CreateOfPull(ctx context.Context, p auth.Principal, order api.RunOrder, of PullOrder,
	key string) (Run, error) {
	return s.made(ctx, p, order, key, func(o *Order) { o.Pull = &of })
}

func (s *Service) ordered(ctx context.Context, p auth.Principal, order api.RunOrder, key string,
	complete func(*Order)) (Run, error) {
	if strings.HasPrefix(order.Snapshot, besidePrefix) {
		return Run{}, fault.New(fault.RunInvalid,
			"a snapshot of a pull request is planned, and applied, by the commands of "+
				"its comments alone")
	}
	return s.made(ctx, p, order, key, complete)
}

// besidePrefix begins the names of snapshots of pull requests.
const besidePrefix = "beside-"

func (s *Service) made(ctx context.Context, p auth.Principal, order api.RunOrder, key string,
	complete func(*Order)) (Run, error) {
	right := auth.PlanRun
	if Kind(order.Kind).Mutates() {
		right = auth.ApplyRun
	}
	if err := s.Gate.AuthorizeOn(ctx, p, right, order.Workspace); err != nil {
		return Run{}, err
	}
	if err := checkOrder(order); err != nil {
		return Run{}, err
	}
	at, err := s.Workspaces.Workspace(ctx, p.Org, order.Workspace)
	if err != nil {
		return Run{}, err
	}
	run, err := s.prepare(ctx, p, order, at)
	if err != nil {
		return Run{}, err
	}
	complete(&run.Order)
	return s.create(ctx, p, run, key)
}

func (s *Service) create(ctx context.Context, p auth.Principal, run Run, key string) (Run, error) {
	event := Event{At: run.CreatedAt, Type: EventCreated, To: Pending, By: run.Trigger, Note: run.Order.Message,
		Audit: s.entry(audit.ActorOf(p), audit.RunCreate, run, run.Order.Message)}
	made, err := s.withRoom(ctx, p.Org, func(room func(Tally) error) (Run, error) {
		return s.Store.Create(ctx, run, key, []Event{event}, room)
	})
	if err != nil {
		return Run{}, err
	}
	if made.ID != run.ID && !made.sameOrder(run) {
		return Run{}, fault.New(fault.IdempotencyMismatch,
			"this Idempotency-Key came with another order of a run before; use a new key")
	}
	if made.ID == run.ID {
		s.deliver(ctx, made.Org)
		s.changed.tellWork()
		s.makeWay(ctx, made)
	}
	return s.seen(p, made), nil
}

// makeWay ends what the server tries again by itself in a workspace in which somebody has asked for
// another run. That it can't is no fault of theirs: they see behind whom their run waits.
func (s *Service) makeWay(ctx context.Context, made Run) {
	if !made.Kind.Mutates() {
		return
	}
	for _, kind := range []Kind{Apply, Destroy, Refresh} {
		page, err := s.Store.List(ctx, Query{Org: made.Org, Workspace: made.Workspace, Kind: kind, Limit: wayReach})
		for _, run := range page.Runs {
			if err == nil && run.Follows != "" && run.ID != made.ID && !run.Status.Ended() {
				_, err = s.update(ctx, run.Ref(), s.by(Server()).makeWay(made.ID))
			}
		}
		if err != nil {
			s.Log.WarnContext(ctx, "a run that is tried again may be in the way of another one", "run", made.ID, "error", err)
		}
	}
}

// wayReach is how many of the newest runs may be one that is tried again: those before it have
// ended, and of those behind it, the first has ended it.
const wayReach = 5

// sameOrder reports whether another run was asked for by the same caller with the same words. The
// snapshot is no part of it: who asks for the newest one may get another the second time.
func (r Run) sameOrder(other Run) bool {
	return r.Trigger.Is(other.Trigger) && r.Workspace == other.Workspace && r.Kind == other.Kind &&
		r.RetryOf == other.RetryOf &&
		slices.Equal(r.Order.Targets, other.Order.Targets) && slices.Equal(r.Order.Replace, other.Order.Replace) &&
		r.Order.NoRefresh == other.Order.NoRefresh && r.Order.AutoApprove == other.Order.AutoApprove &&
		r.Order.Reconcile == other.Order.Reconcile
}

// What an order may have.
const (
	maxMessage = 1000 // bytes
	maxTargets = 200
	maxAddress = 1000 // bytes
	// maxAddresses is what all of them may take: they are in one row with all else of the run.
	maxAddresses = 64 << 10 // bytes
)

func checkOrder(o api.RunOrder) error {
	if !slices.Contains(Kinds(), Kind(o.Kind)) {
		return fault.New(fault.RunInvalid, "the kind %q is none: plan, apply, destroy, refresh or drift", o.Kind)
	}
	if refreshes := Kind(o.Kind) == Refresh || Kind(o.Kind) == Drift; refreshes && (o.NoRefresh || len(o.Replace) > 0) {
		return fault.New(fault.RunInvalid,
			"a run of kind %s does nothing but refresh: it replaces nothing, and can't do without", o.Kind)
	}
	if _, err := uuid.Parse(o.Reconcile); o.Reconcile != "" && (err != nil || len(o.Reconcile) != 36) {
		return fault.New(fault.RunInvalid, "reconcile is the UUID that the runs of a reconcile have in common")
	}
	if len(o.Message) > maxMessage {
		return fault.New(fault.RunInvalid, "the message has %d bytes; at most %d are allowed", len(o.Message), maxMessage)
	}
	if len(o.Targets)+len(o.Replace) > maxTargets {
		return fault.New(fault.RunInvalid, "the run has more than %d targets and replacements", maxTargets)
	}
	bytes := 0
	for _, address := range slices.Concat(o.Targets, o.Replace) {
		if address == "" || len(address) > maxAddress || strings.HasPrefix(address, "-") ||
			strings.ContainsFunc(address, unicode.IsControl) {
			return fault.New(fault.RunInvalid, "%.100q is not the address of a resource", address)
		}
		bytes += len(address)
	}
	if bytes > maxAddresses {
		return fault.New(fault.RunInvalid, "the targets and replacements have %d bytes; at most %d are allowed", bytes,
			maxAddresses)
	}
	if o.AutoApprove && !Kind(o.Kind).Mutates() {
		return fault.New(fault.RunInvalid, "a run of kind %s applies nothing that could be approved", o.Kind)
	}
	return nil
}

// prepare returns the run as it is to begin.
func (s *Service) prepare(ctx context.Context, p auth.Principal, o api.RunOrder, at Workspace) (Run, error) {
	run, err := s.prepareFor(ctx, p.Org, o, at)
	if err != nil {
		return Run{}, err
	}
	if run.Kind.Mutates() {
		why, err := s.Workspaces.PlanOnly(ctx, run.Org, run.Workspace, run.Order.Snapshot)
		if err == nil && why != "" {
			err = fault.New(fault.RunInvalid, "%s", why)
		}
		if err != nil {
			return Run{}, err
		}
	}
	run.Trigger = ActorOf(p)
	return run, nil
}

func (s *Service) prepareFor(ctx context.Context, org uuid.UUID, o api.RunOrder, at Workspace) (Run, error) {
	switch {
	case Kind(o.Kind) == Destroy && at.Protected:
		return Run{}, fault.New(fault.DestroyProtected, "the workspace %s is protected from being destroyed", o.Workspace)
	case o.AutoApprove && at.Terms.Approvals > 0:
		return Run{}, fault.New(fault.ApprovalNeeded,
			"the workspace wants %d approvals of each plan, so a run can't approve itself", at.Terms.Approvals)
	}
	snapshot := o.Snapshot
	if snapshot == "" {
		snapshot = at.Snapshot
	}
	if snapshot == "" {
		return Run{}, fault.New(fault.RunInvalid, "the workspace has no configuration yet: push one first")
	}
	if _, err := s.Workspaces.Files(ctx, org, o.Workspace, snapshot); err != nil {
		return Run{}, err
	}
	if err := s.offered(ctx, at); err != nil {
		return Run{}, err
	}
	now := s.clock()
	return Run{
		Org: org, ID: newID(now), Workspace: o.Workspace, Kind: Kind(o.Kind), Status: Pending,
		Order: Order{
			Snapshot: snapshot, Message: o.Message, Targets: o.Targets, Replace: o.Replace,
			NoRefresh: o.NoRefresh, AutoApprove: o.AutoApprove, Reconcile: o.Reconcile,
		},
		Pool: at.Pool, Terms: at.Terms, Attempt: 1, CreatedAt: now, MovedAt: now,
	}, nil
}

// offered refuses a run whose executor is known to lack its tool. What agents have is known to them.
func (s *Service) offered(ctx context.Context, at Workspace) error {
	if at.Pool != "" || s.Tools == nil {
		return nil
	}
	return s.Tools.Offers(ctx, api.Tool{Name: at.Terms.Tool, Version: at.Terms.Version})
}

// idDigits are Crockford's, of base 32.
const idDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newID returns a ULID: 48 bits of milliseconds and 80 random ones, in Crockford's base 32.
func newID(at time.Time) string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(at.UnixMilli())<<16)
	_, _ = rand.Read(raw[6:]) // never fails
	return ulid(raw)
}

// ulid spells 128 bits in 26 digits, of which the first has only 3 bits.
func ulid(raw [16]byte) string {
	var padded [20]byte // of 160 bits, 130 are used: 2 of zero before the 128, 30 cut off behind
	hi, lo := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	binary.BigEndian.PutUint64(padded[:8], hi>>2)
	binary.BigEndian.PutUint64(padded[8:16], hi<<62|lo>>2)
	padded[16] = byte(lo << 6)
	return base32.NewEncoding(idDigits).EncodeToString(padded[:])[:26]
}

// IsID reports whether a text can be the ID of a run.
func IsID(text string) bool {
	return len(text) == 26 && strings.Trim(text, idDigits) == ""
}
