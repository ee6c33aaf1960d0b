package server

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// onRecordEvery is how often failed logins, and what is left of reads, are put on record.
const onRecordEvery = time.Minute

// startRecords has reads of states, uploads and failed logins put on record.
func (p *parts) startRecords(ctx context.Context, clock func() time.Time) {
	reads := audit.NewReads(p.states, clock, p.log)
	p.reads = reads
	failures := audit.NewFailures(p.states, clock)
	p.service.WithReads(reads)
	p.verifier.TellFailed(func(who auth.Principal, told fault.Code) { failures.Note(who.Org, audit.ActorOf(who), told) })
	flush := func(ctx context.Context, all bool) error {
		inForce := p.inForce()
		if err := failures.Flush(ctx, inForce); err != nil {
			return err
		}
		return reads.Flush(ctx, all, inForce)
	}
	failed := func(err error) {
		p.log.ErrorContext(ctx, "not all that was read or uploaded, or failed to log in, is in the audit log; trying again", "error", err)
	}
	stop := repeat(ctx, onRecordEvery, onRecordEvery,
		func(ctx context.Context) error { return flush(ctx, false) }, failed)
	p.closers = append(p.closers, func() {
		stop()
		if err := flush(context.WithoutCancel(ctx), true); err != nil {
			failed(err)
		}
	})
}

// inForce tells the organizations that there are, and are not being destroyed.
func (p *parts) inForce() func(uuid.UUID) bool {
	orgs := map[uuid.UUID]bool{}
	for _, org := range p.watcher.Organizations() {
		orgs[org] = true
	}
	return func(org uuid.UUID) bool { return orgs[org] }
}
