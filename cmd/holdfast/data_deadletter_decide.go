package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/printable"
	"github.com/holdfast/holdfast/storage/dual"
)

// decision is what retry or discard does with dead letters.
type decision struct {
	verb, question   string // no question, no confirmation
	all, yes, asJSON bool
	do               func(context.Context, *dual.Store, int64) (decided, error)
}

// decided is what became of a dead letter.
type decided struct {
	Number int64      `json:"number"`
	Done   bool       `json:"done"`
	At     *time.Time `json:"timestamp,omitempty"` // of its records on the side that took it now
	Error  string     `json:"error,omitempty"`
}

func newDeadLetterRetryCommand(a *app) *cobra.Command {
	d := &decision{verb: "Recorded", do: func(ctx context.Context, store *dual.Store, number int64) (decided, error) {
		receipt, err := store.RetryDeadLetter(ctx, number)
		return decided{At: &receipt.At}, err
	}}
	return a.decisionCommand(d, &cobra.Command{
		Use:   "retry {NUMBER... | --all}",
		Short: "Have dead letters recorded by the side that refused them",
		Long: `Send dead letters again to the side that refused them, the oldest first, when what was wrong
is mended. A side only appends: where it has taken later uploads meanwhile, the records come
behind those, with the timestamp of the newest. Then the two sides have the same records,
but not in the same order.`,
		Example: `  holdfast data deadletter retry --all
  holdfast data deadletter retry 17 18 --json`,
	})
}

func newDeadLetterDiscardCommand(a *app) *cobra.Command {
	d := &decision{verb: "Discarded", question: "Discard %s? One side will lack their records for good.",
		do: func(ctx context.Context, store *dual.Store, number int64) (decided, error) {
			return decided{}, store.DiscardDeadLetter(ctx, number)
		}}
	cmd := a.decisionCommand(d, &cobra.Command{
		Use:   "discard {NUMBER... | --all}",
		Short: "Give dead letters up",
		Long: `Give dead letters up: the side that refuses them will lack their records for good. Asks
first on a terminal; elsewhere it needs --yes.`,
		Example: `  holdfast data deadletter export 17 -o refused.csv
  holdfast data deadletter discard 17 --yes`,
	})
	addYesFlag(cmd, &d.yes)
	return cmd
}

func (a *app) decisionCommand(d *decision, cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if d.all == (len(args) > 0) {
			return usagef("choose dead letters: their numbers, or --all")
		}
		var numbers []int64
		for _, text := range args {
			number, err := parseNumber(text)
			if err != nil {
				return err
			}
			numbers = append(numbers, number)
		}
		return a.onDual(cmd, func(ctx context.Context, store *dual.Store) error { return a.decide(ctx, store, d, numbers) })
	}
	cmd.Flags().BoolVar(&d.all, "all", false, "all dead letters")
	addJSONFlag(cmd, &d.asJSON)
	addConfigFlag(cmd)
	return cmd
}

// decide goes on behind a dead letter with which it fails: the next may fare better.
func (a *app) decide(ctx context.Context, store *dual.Store, d *decision, numbers []int64) error {
	if d.all {
		letters, err := store.DeadLetters(ctx)
		if err != nil {
			return err
		}
		for _, letter := range letters {
			numbers = append(numbers, letter.Number)
		}
	}
	if d.question != "" && len(numbers) > 0 {
		if err := a.confirm(ctx, d.yes, fmt.Sprintf(d.question, counted(int64(len(numbers)), "dead letter"))); err != nil {
			return err
		}
	}
	results, failed := []decided{}, int64(0)
	for _, number := range numbers {
		result, err := d.do(ctx, store, number)
		if result.Number, result.Done = number, err == nil; err != nil {
			failed++
			result.At, result.Error = nil, fault.From(err).Message
		}
		results = append(results, result)
	}
	if err := a.showDecided(d, results); err != nil {
		return err
	}
	if failed > 0 {
		return interrupted(ctx, fmt.Errorf("%s failed", counted(failed, "dead letter")))
	}
	return nil
}

func (a *app) showDecided(d *decision, results []decided) error {
	if d.asJSON {
		return printJSON(a.stdout, results)
	}
	done := int64(0)
	for _, r := range results {
		if r.Done {
			done++
			continue
		}
		fmt.Fprintf(a.stderr, "%d: %s\n", r.Number, printable.Lines(r.Error))
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s.\n", d.verb, counted(done, "dead letter"))
	return err
}
