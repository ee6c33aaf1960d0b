package sqluploads

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

const (
	// commitTimeout bounds one attempt. It is longer than a server lets a statement wait for a lock, so that a lock that
	// is not freed is told from a server that does not answer.
	commitTimeout = 20 * time.Second
	// lostTries and conflictTries are how often an attempt is made again.
	lostTries     = 1
	conflictTries = 8
)

// errNoOrganization says that the organization has not been entered yet.
var errNoOrganization = errors.New("the organization has no table yet")

// commit records a group and fills in its entries' answers. A batch that the server
// refuses must not take others with it: then each goes alone.
func (s *Store) commit(server *server, org uuid.UUID, group []*entry) {
	group = present(group)
	if len(group) == 0 {
		return
	}
	err := s.confirm(server, org, group, server.plain)
	if len(group) > 1 && err != nil && !s.speaks().IsAway(err) && !s.speaks().IsConflict(err) {
		for _, e := range group {
			s.commit(server, org, []*entry{e})
		}
		return
	}
	if s.engine.isRefusedJSON(err) {
		err = s.confirm(server, org, group, tamed)
	}
	if err != nil {
		fail(group, s.fault(err))
	}
}

// fail fills in an error as each entry's answer.
func fail(group []*entry, err error) {
	for _, e := range group {
		e.receipt, e.err = inventory.Receipt{}, err
	}
}

// present returns the entries whose callers have not given up, and that don't come behind
// one that has failed.
func present(group []*entry) []*entry {
	var there []*entry
	for _, e := range group {
		if e.err = e.ctx.Err(); e.err == nil {
			e.err = e.orphaned()
		}
		if e.err == nil {
			there = append(there, e)
		}
	}
	return there
}

// confirm makes the group's transaction until its outcome is known. After a lost connection
// it may have been committed or not, and both is well: the next attempt waits for the
// organization's lock, which the lost one holds until it has ended, and then finds the
// batches or doesn't.
func (s *Store) confirm(server *server, org uuid.UUID, group []*entry, form form) error {
	lost, conflicts := 0, 0
	for {
		err := s.attempt(transaction{server: server, org: org, form: form}, group)
		if errors.Is(err, errNoOrganization) {
			if err = s.enter(server, org); err == nil {
				err = s.attempt(transaction{server: server, org: org, form: form}, group)
			}
		}
		switch {
		case s.speaks().IsConflict(err) && conflicts < conflictTries:
			conflicts++
			time.Sleep(rand.N(time.Duration(conflicts) * 20 * time.Millisecond))
		case err != nil && s.speaks().IsAway(err) && lost < lostTries:
			lost++
			for _, e := range group {
				e.ours = e.ours || e.fresh
			}
		default:
			return err
		}
	}
}

// enter makes the organization's table. It is done apart from the transaction, because DDL commits what came before it
// in MySQL.
func (s *Store) enter(server *server, org uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	for _, statement := range s.speaks().createTable(org, server.collation) {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// attempt runs a transaction once. The calls' contexts count no more: what has begun is
// carried out.
func (s *Store) attempt(t transaction, group []*entry) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	t.db, t.speaks, t.now = conn, s.speaks(), s.now().UTC().Truncate(time.Microsecond)
	answers, err := t.run(ctx, group)
	if err != nil {
		s.speaks().Abandon(conn, err)
		return err
	}
	for i, e := range group {
		e.receipt, e.err = answers[i].receipt, answers[i].err
	}
	_ = conn.Close() // back to the pool
	return nil
}
