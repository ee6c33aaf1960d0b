package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/transfer"
)

// migrators is how many organizations are copied at once: each has its own sequence of
// commits, and waits for the disk or the database most of the time.
const migrators = 4

// migration copies organizations from one store to another.
type migration struct {
	a        *app
	from, to inventory.Store
	dryRun   bool
	moves    []*move
}

// move is what a migration does for one organization.
type move struct {
	Org     uuid.UUID       `json:"organization"`
	Present int64           `json:"present"` // in the target, before
	Added   int64           `json:"added"`   // in a dry run, what would be
	Source  transfer.Extent `json:"source"`
	Target  transfer.Extent `json:"target"`
	Result  string          `json:"result"`
	Error   string          `json:"error,omitempty"`

	records int64 // that the source counts
}

// The results of a move.
const (
	moveEqual   = "equal"
	movePlanned = "would be copied" // of a dry run
	moveFailed  = "failed"
	moveDiffers = "differs"
)

// find lists what there is to do. Without --org, the target may have no organization that
// the source lacks: it would not be a copy.
func (m *migration) find(cmd *cobra.Command, only string) error {
	known := map[uuid.UUID]bool{}
	for org, err := range orgsOf(cmd, m.from) {
		if err != nil {
			return err
		}
		known[org] = true
		groups, err := m.from.Summary(cmd.Context(), org)
		if err != nil {
			return err
		}
		one := &move{Org: org}
		for _, g := range groups {
			one.records += g.Count
		}
		m.moves = append(m.moves, one)
	}
	if only != "" {
		return nil
	}
	for org, err := range m.to.Organizations(cmd.Context()) {
		if err != nil {
			return err
		}
		if !known[org] {
			return fmt.Errorf("the target has records of organization %s, which the source hasn't; nothing was copied. --org "+
				"limits a migration to one organization", org)
		}
	}
	return nil
}

// run compares everything first, so that a refusal comes before anything is copied.
func (m *migration) run(ctx context.Context) error {
	if err := m.each(ctx, "comparing",
		func(ctx context.Context, one *move, read func()) error { return m.copy(ctx, one, true, read) }); err != nil {
		return fmt.Errorf("nothing was copied: %w", err)
	}
	if !m.dryRun {
		if err := m.each(ctx, "copying",
			func(ctx context.Context, one *move, read func()) error { return m.copy(ctx, one, false, read) }); err != nil {
			return err
		}
	}
	return m.each(ctx, "verifying", m.verify)
}

// copy copies an organization, or finds out what there is to copy.
func (m *migration) copy(ctx context.Context, one *move, dryRun bool, read func()) error {
	copied, err := transfer.Copy(ctx, m.from, m.to, one.Org, transfer.Options{Request: "migrate", DryRun: dryRun}, read)
	if dryRun {
		one.Present, one.Added, one.Source = copied.Present, copied.Added, copied.Source
		return err
	}
	one.Added = copied.Added // what came over, also when it was interrupted
	if err == nil && copied.Source != one.Source {
		err = errors.New("the source was changed meanwhile: is a server running?")
	}
	return err
}

// verify reads the target. In a dry run there is nothing to compare it with yet, if
// something is to be copied.
func (m *migration) verify(ctx context.Context, one *move, read func()) (err error) {
	if one.Target, err = transfer.Measure(ctx, m.to, one.Org, read); err != nil {
		return err
	}
	switch {
	case one.Target == one.Source:
		one.Result = moveEqual
	case m.dryRun && one.Added > 0:
		one.Result = movePlanned
	default:
		one.Result = moveDiffers
		return errors.New("the target is not equal to the source: is a server running?")
	}
	return nil
}

// each does a step for every organization that has not failed yet, several at once. Its
// error says how many failed now.
func (m *migration) each(ctx context.Context, what string, step func(context.Context, *move, func()) error) error {
	var todo []*move
	var total int64
	for _, one := range m.moves {
		if one.Error == "" {
			todo = append(todo, one)
			total += one.records
		}
	}
	p := m.a.startProgress(what, "record", total)
	queue := make(chan *move)
	var workers sync.WaitGroup
	for range min(migrators, len(todo)) {
		workers.Go(func() {
			for one := range queue {
				if err := step(ctx, one, p.add); err != nil {
					one.Error = err.Error()
					if one.Result == "" {
						one.Result = moveFailed
					}
				}
			}
		})
	}
	for _, one := range todo {
		queue <- one
	}
	close(queue)
	workers.Wait()
	p.end()
	return m.failures(ctx)
}

// failures is an error if any organization has failed.
func (m *migration) failures(ctx context.Context) error {
	failed := 0
	for _, one := range m.moves {
		if one.Error != "" {
			failed++
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, counted(int64(len(m.moves)), "organization"))
	}
	return nil
}
