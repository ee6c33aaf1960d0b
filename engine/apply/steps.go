package apply

import (
	"errors"

	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/internal/graph"
)

// step is one thing to do: to bring an object about, or to delete one.
type step struct {
	name    string
	change  *plan.Change
	destroy bool
}

// steps makes the steps of a plan and the order among them. What is brought about waits for what it depends
// on; what is deleted waits for the deletion of what depends on it, and, if it was replaced first, for the
// updates of those too. Groups stand between so that there are as many edges as dependencies.
func steps(p *plan.Plan) (map[string]*step, *graph.Graph, error) {
	all, g := map[string]*step{}, &graph.Graph{}
	add := func(c *plan.Change, destroy bool) *step {
		name := "do " + c.Address.String()
		switch {
		case destroy:
			name = "delete " + c.Address.String() + " " + c.Deposed
		case c.Deposed != "": // forgotten, beside what is done to the current object
			name += " " + c.Deposed
		}
		s := &step{name, c, destroy}
		all[name] = s
		g.Add(name)
		return s
	}
	for _, c := range p.Changes {
		block := c.Address.Config()
		var do, del *step
		switch {
		case c.Action == plan.Delete:
			del = add(c, true)
		case c.Action.Replaces():
			do, del = add(c, false), add(c, true)
		case c.Action != plan.NoOp:
			do = add(c, false)
		}
		if do != nil {
			g.Depend("done "+block, do.name)
			for _, d := range c.Dependencies {
				g.Depend(do.name, "done "+d)
			}
		}
		if del != nil {
			g.Depend(del.name, "users gone "+block)
			for _, d := range c.Dependencies {
				g.Depend("users gone "+d, del.name)
			}
		}
		switch {
		case do != nil && del != nil && c.Action == plan.CreateBeforeDestroy:
			g.Depend(del.name, do.name)
		case do != nil && del != nil:
			g.Depend(do.name, del.name)
		}
	}
	// What is deleted only after its replacement is there also waits until nothing uses it any more.
	for _, c := range p.Changes {
		if c.Action == plan.CreateBeforeDestroy || c.Action == plan.Delete && (c.CreateFirst || c.Deposed != "") {
			g.Depend("delete "+c.Address.String()+" "+c.Deposed, "users moved "+c.Address.Config())
		}
		if all["do "+c.Address.String()] != nil {
			for _, d := range c.Dependencies {
				g.Depend("users moved "+d, "do "+c.Address.String())
			}
		}
	}
	_, err := g.Order()
	if circle, ok := errors.AsType[*graph.CircleError](err); ok {
		err = &diag.Error{Category: diag.Cycle, Summary: circle.Error(), Hint: circle.Hint()}
	}
	return all, g, err
}
