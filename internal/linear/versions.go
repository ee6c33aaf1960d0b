package linear

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state/statemodel"
)

// Versions is the kind of an Op that reads the serials of all versions of a state, oldest first. Each
// state's history ends with one: no write whose answer got lost can have happened before it, unless its
// version is there.
const Versions = "versions"

// lastTries is how often the serials are asked for while nobody answers.
const lastTries = 200

// mostVersions is above how many versions a state of a workload gets.
const mostVersions = 1000

// readVersions has each state's history end with what versions there are.
func (w Workload) readVersions(ctx context.Context, h *History, callers []*caller) {
	names := make(chan string)
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			for name := range names {
				c.name = name
				c.repeat(ctx, Call{Op: statemodel.Op{Kind: Versions}}, lastTries)
			}
		})
	}
	for _, name := range h.names() {
		names <- name
	}
	close(names)
	all.Wait()
}

func versions(ctx context.Context, c *client.Client, name string) (out statemodel.Outcome, err error) {
	var serials []string
	list := c.Versions(name, mostVersions)
	for v, err := range list.All(ctx) {
		if err != nil {
			return out, err
		}
		serials = append(serials, serialOf(v))
	}
	for i := range len(serials) / 2 {
		serials[i], serials[len(serials)-1-i] = serials[len(serials)-1-i], serials[i]
	}
	return statemodel.Outcome{Body: strings.Join(serials, "")}, nil
}

func serialOf(v api.Version) string { return fmt.Sprint(v.Serial, "|") }

// serials are those of the versions, each ended by a bar.
func (k kept) serials() string {
	var b strings.Builder
	for mark := range strings.SplitSeq(k.Bodies, "|") {
		if _, serial, ok := strings.Cut(mark, "@"); ok {
			b.WriteString(serial + "|")
		}
	}
	return b.String()
}

// list is the answer to a Versions.
func (k kept) list() statemodel.Outcome {
	if k.Number == 0 {
		return statemodel.Outcome{Code: fault.StateNotFound}
	}
	return statemodel.Outcome{Body: k.serials()}
}
