package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast/holdfast/enclave"
)

// Reconciler makes what there is as a folder says.
type Reconciler struct {
	Tree   *enclave.Tree
	Dir    string // of the tree, on this machine
	Server Server
	// Managed brings about the managed partitions of a cloud; nil where nobody does.
	Managed func(enclave.Cloud) Driver
	// Here runs the tools of other partitions on this machine; nil has the server run them.
	Here Driver
	Options
}

// Options say how.
type Options struct {
	ID      string   // of this reconcile: a UUID
	Set     string   // of folders: what another set has is left alone
	Only    []string // enclaves; all for none
	Prune   bool     // takes away what the folder no longer has
	All     bool     // runs where nothing has changed, too
	Adopt   bool     // takes over workspaces that nobody has reconciled
	Approve bool     // has plans applied without a question, where the workspace lets the caller
	Wait    bool     // waits until others have approved
	Width   int      // how many partitions are looked after at once; 0 for 8
	// Tell hears what happens, from several goroutines at once; nil for nobody.
	Tell func(Event)
}

// Event is something that happens to a partition.
type Event struct {
	Path string
	Text string // for people
	Log  bool   // Text is what a tool printed
}

func (r *Reconciler) tell(path, format string, args ...any) {
	if r.Tell != nil {
		r.Tell(Event{Path: path, Text: fmt.Sprintf(format, args...)})
	}
}

func (r *Reconciler) teller(path string) func([]byte) {
	return func(line []byte) {
		if r.Tell != nil {
			r.Tell(Event{path, string(line), true})
		}
	}
}

// Result is what has become of a partition, or what would.
type Result struct {
	Path string `json:"partition"`
	// Action is what is to be done: create, update, resume, none, remove.
	Action Action   `json:"action"`
	Why    []string `json:"why,omitempty"`
	// Outcome is how that went; empty in a plan.
	Outcome Outcome                   `json:"outcome,omitempty"`
	Run     string                    `json:"run,omitempty"`
	Reason  string                    `json:"reason,omitempty"` // of a failure
	Needs   []string                  `json:"needs,omitempty"`
	Outputs map[string]enclave.Output `json:"-"` // the declared ones
}

// Action is what is to be done with a partition.
type Action string

// The actions.
const (
	Create  Action = "create"
	Update  Action = "update"
	Resume  Action = "resume" // a run of it goes on
	None    Action = "none"
	Unknown Action = "unknown" // it depends on what others will have
	Remove  Action = "remove"
	Leave   Action = "leave" // it is not in the folder, and stays
)

// Outcome is what has become of it.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"
	Unchanged Outcome = "unchanged"
	Failed    Outcome = "failed"
	Skipped   Outcome = "skipped" // because of another one
	Waiting   Outcome = "waiting" // for an approval
	Removed   Outcome = "removed"
)

// BadError says which partitions are not as they should be.
type BadError struct{ Results []Result }

func (e *BadError) Error() string {
	count := map[Outcome]int{}
	for _, r := range e.Results {
		count[r.Outcome]++
	}
	var parts []string
	for _, o := range []Outcome{Failed, Skipped, Waiting} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	return "not all is as the folder says: " + strings.Join(parts, ", ") + "; do the same again to go on"
}

// isDriven reports whether a driver looks after a partition, and not the server.
func (r *Reconciler) isDriven(p *enclave.Partition) bool {
	return p.Backend == enclave.Managed || r.Here != nil
}

// selected are the partitions that are looked after.
func (r *Reconciler) selected() (map[string]*enclave.Partition, error) {
	part, err := r.Tree.Only(r.Only)
	if err != nil {
		return nil, err
	}
	all := map[string]*enclave.Partition{}
	for _, p := range part.Partitions() {
		all[p.Path()] = p
	}
	return all, nil
}

// everything is what is looked after: partitions in their order, and those that the folder no longer has.
func (r *Reconciler) everything(ctx context.Context) ([]*enclave.Partition, []gonePartition, error) {
	selected, err := r.selected()
	if err != nil {
		return nil, nil, err
	}
	order, err := r.Tree.Order()
	if err != nil {
		return nil, nil, err
	}
	order = slices.DeleteFunc(order, func(p *enclave.Partition) bool { return selected[p.Path()] == nil })
	gone, err := r.gone(ctx)
	return order, gone, err
}

// Plan says what an apply would do, in the order in which it would.
func (r *Reconciler) Plan(ctx context.Context) ([]Result, error) {
	order, gone, err := r.everything(ctx)
	if err != nil {
		return nil, err
	}
	var all []Result
	changes := map[string]bool{}
	for _, p := range order {
		result, err := r.planned(ctx, p, changes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path(), err)
		}
		changes[p.Path()] = result.Action != None
		all = append(all, result)
	}
	for _, g := range gone {
		all = append(all, r.plannedRemoval(g))
	}
	return all, nil
}

func (r *Reconciler) planned(ctx context.Context, p *enclave.Partition, changes map[string]bool) (Result, error) {
	result := Result{Path: p.Path(), Needs: p.Needs()}
	l, err := r.look(ctx, p)
	if missing, ok := errors.AsType[*enclave.MissingError](err); ok && changes[missing.Partition] {
		result.Action, result.Why = Unknown, []string{missing.Error()}
		return result, nil
	}
	if err != nil {
		return result, err
	}
	result.Action, result.Why, result.Outputs = l.action(), l.why, l.has
	for _, need := range result.Needs {
		if result.Action == None && changes[need] {
			result.Action, result.Why = Unknown, append(result.Why, "it imports from "+need+", which changes")
		}
	}
	return result, nil
}

// Apply does what is to be done: each partition after those that it imports from, those that don't depend on
// each other at once. What fails holds up only what needs it. The error is a *BadError where something did.
func (r *Reconciler) Apply(ctx context.Context) ([]Result, error) {
	selected, err := r.selected()
	if err != nil {
		return nil, err
	}
	gone, err := r.gone(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.mayRemove(gone); err != nil {
		return nil, err
	}
	var nodes []node
	for _, p := range selected {
		nodes = append(nodes, node{p.Path(), among(p.Needs(), selected),
			func(ctx context.Context) Result { return r.apply(ctx, p) }})
	}
	all := r.each(ctx, nodes)
	if r.Prune && isGood(all) {
		all = append(all, r.each(ctx, r.removals(gone))...)
	} else {
		for _, g := range gone {
			all = append(all, r.left(g, isGood(all)))
		}
	}
	return all, badOrNil(all)
}

func among(needs []string, selected map[string]*enclave.Partition) []string {
	return slices.DeleteFunc(slices.Clone(needs), func(path string) bool { return selected[path] == nil })
}

func isGood(all []Result) bool {
	return !slices.ContainsFunc(all, func(r Result) bool {
		return r.Outcome == Failed || r.Outcome == Skipped || r.Outcome == Waiting
	})
}

func badOrNil(all []Result) error {
	if isGood(all) {
		return nil
	}
	return &BadError{all}
}

// node is something to be done once others are.
type node struct {
	path  string
	needs []string
	do    func(context.Context) Result
}

// each does all nodes, each once those that it needs are good, in the order in which they ended.
func (r *Reconciler) each(ctx context.Context, nodes []node) []Result {
	done := map[string]chan struct{}{}
	for _, n := range nodes {
		done[n.path] = make(chan struct{})
	}
	width := r.Width
	if width <= 0 {
		width = 8
	}
	room := make(chan struct{}, width)
	var lock sync.Mutex
	var all []Result
	ended := map[string]Result{}
	end := func(n node, result Result) {
		lock.Lock()
		defer lock.Unlock()
		all, ended[n.path] = append(all, result), result
		close(done[n.path])
	}
	var group sync.WaitGroup
	for _, n := range nodes {
		group.Go(func() {
			for _, need := range n.needs {
				<-done[need]
			}
			lock.Lock()
			bad := firstBad(n.needs, ended)
			lock.Unlock()
			if bad != "" {
				end(n, Result{Path: n.path, Outcome: Skipped, Reason: bad, Needs: n.needs})
				return
			}
			room <- struct{}{}
			result := n.do(ctx)
			<-room
			end(n, result)
		})
	}
	group.Wait()
	return all
}

// firstBad says which of those that are needed is not as it should be.
func firstBad(needs []string, ended map[string]Result) string {
	for _, need := range needs {
		if !isGood([]Result{ended[need]}) {
			return need + " is " + string(ended[need].Outcome)
		}
	}
	return ""
}
