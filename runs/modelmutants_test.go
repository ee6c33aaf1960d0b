package runs_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

func chooser(seed uint64) func(string, int) int {
	random := rand.New(rand.NewPCG(seed, 7))
	return func(_ string, n int) int { return random.IntN(n) }
}

// seeing has a rule see another run than there is; what it makes of it counts.
func seeing(decide runs.Decide, bend func(*runs.Run)) runs.Decide {
	return func(r runs.Run) (runs.Change, error) {
		bend(&r)
		return decide(r)
	}
}

// making bends what a rule makes of a run.
func making(decide runs.Decide, bend func(was runs.Run, c *runs.Change)) runs.Decide {
	return func(r runs.Run) (runs.Change, error) {
		change, err := decide(r)
		if err == nil {
			bend(r, &change)
		}
		return change, err
	}
}

// mutants are machines of which each leaves out one check.
func mutants() map[string]func(rules runs.Machine, m *runs.Machine) {
	return map[string]func(rules runs.Machine, m *runs.Machine){
		"claims what somebody has": func(rules runs.Machine, m *runs.Machine) {
			m.Claim = func(c runs.Call, by runs.Executor, base runs.Base, terms runs.Terms) runs.Decide {
				return seeing(rules.Claim(c, by, base, terms), func(r *runs.Run) {
					if r.Status.Leased() && r.Executor.ClaimKey != by.ClaimKey {
						r.Status = runs.Retrying
					}
				})
			}
		},
		"gives no epoch of its own": func(rules runs.Machine, m *runs.Machine) {
			m.Claim = func(c runs.Call, by runs.Executor, base runs.Base, terms runs.Terms) runs.Decide {
				return making(rules.Claim(c, by, base, terms),
					func(was runs.Run, c *runs.Change) { c.Run.Epoch = max(was.Epoch, 1) })
			}
		},
		"forgets who claimed": func(rules runs.Machine, m *runs.Machine) {
			m.Claim = func(c runs.Call, by runs.Executor, base runs.Base, terms runs.Terms) runs.Decide {
				return seeing(rules.Claim(c, by, base, terms), func(r *runs.Run) {
					if r.Executor != nil {
						r.Executor.ClaimKey = ""
					}
				})
			}
		},
		"applies what is stale": func(rules runs.Machine, m *runs.Machine) {
			m.Claim = func(c runs.Call, by runs.Executor, base runs.Base, terms runs.Terms) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					base := base
					if r.Status == runs.Confirmed {
						base = r.Base
					}
					return rules.Claim(c, by, base, terms)(r)
				}
			}
		},
		"applies what is overdue": func(rules runs.Machine, m *runs.Machine) {
			m.Claim = func(c runs.Call, by runs.Executor, base runs.Base, terms runs.Terms) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					was := r.Terms
					r.Terms.PlanTTL, r.Terms.ApprovalTTL = 0, 0
					change, err := rules.Claim(c, by, base, terms)(r)
					if change.Run.Stage == runs.ApplyStage {
						change.Run.Terms = was
					}
					return change, err
				}
			}
		},
		"applies other settings": func(rules runs.Machine, m *runs.Machine) {
			m.Claim = func(c runs.Call, by runs.Executor, base runs.Base, terms runs.Terms) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					terms := terms
					if r.Status == runs.Confirmed {
						terms = r.Terms
					}
					return rules.Claim(c, by, base, terms)(r)
				}
			}
		},
		"applies what was cancelled": func(rules runs.Machine, m *runs.Machine) {
			m.Planned = func(c runs.Call, p runs.Result) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					was := r.Cancel
					r.Cancel = nil
					change, err := rules.Planned(c, p)(r)
					change.Run.Cancel = was
					return change, err
				}
			}
		},
		"believes late checks": func(rules runs.Machine, m *runs.Machine) {
			m.Planned = func(c runs.Call, p runs.Result) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					p.Epoch = r.Epoch
					return rules.Planned(c, p)(r)
				}
			}
		},
		"believes old epochs": func(rules runs.Machine, m *runs.Machine) {
			m.Renew = func(c runs.Call, l api.LeaseRenewal) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					l.Epoch = r.Epoch
					return rules.Renew(c, l)(r)
				}
			}
		},
		"takes reports of the lost": func(rules runs.Machine, m *runs.Machine) {
			m.Report = func(c runs.Call, p api.PhaseReport, head runs.Base) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					p.Epoch = r.Epoch
					return rules.Report(c, p, head)(r)
				}
			}
		},
		"takes reports after the end": func(rules runs.Machine, m *runs.Machine) {
			m.Report = func(c runs.Call, p api.PhaseReport, head runs.Base) runs.Decide {
				return seeing(rules.Report(c, p, head), func(r *runs.Run) {
					if r.Status.Ended() && r.Epoch == p.Epoch {
						r.Status = runs.Applying
					}
				})
			}
		},
		"takes reports twice": func(rules runs.Machine, m *runs.Machine) {
			m.Report = func(c runs.Call, p api.PhaseReport, head runs.Base) runs.Decide {
				return seeing(rules.Report(c, p, head), func(r *runs.Run) { r.Reports = nil })
			}
		},
		"looks at no digest": func(rules runs.Machine, m *runs.Machine) {
			m.Approve = func(c runs.Call, d api.Decision, now runs.Base, revision int64) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					if r.Pin != nil {
						d.Digest = r.Pin.Digest
					}
					return rules.Approve(c, d, now, revision)(r)
				}
			}
		},
		"lets authors approve": func(rules runs.Machine, m *runs.Machine) {
			m.Approve = func(c runs.Call, d api.Decision, now runs.Base, revision int64) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					was := r.Terms.AllowAuthor
					r.Terms.AllowAuthor = true
					change, err := rules.Approve(c, d, now, revision)(r)
					change.Run.Terms.AllowAuthor = was
					return change, err
				}
			}
		},
		"has one approval count for all": func(rules runs.Machine, m *runs.Machine) {
			m.Approve = func(c runs.Call, d api.Decision, now runs.Base, revision int64) runs.Decide {
				return func(r runs.Run) (runs.Change, error) {
					was := r.Terms.Approvals
					r.Terms.Approvals = min(was, 1)
					change, err := rules.Approve(c, d, now, revision)(r)
					change.Run.Terms.Approvals = was
					return change, err
				}
			}
		},
		"carries approvals of other changes": func(rules runs.Machine, m *runs.Machine) {
			m.Planned = func(c runs.Call, p runs.Result) runs.Decide {
				return seeing(rules.Planned(c, p), func(r *runs.Run) {
					if r.Earlier != nil {
						earlier := *r.Earlier
						earlier.Changes = p.Pin.Changes
						r.Earlier = &earlier
					}
				})
			}
		},
		"asks nobody": func(rules runs.Machine, m *runs.Machine) {
			m.Planned = func(c runs.Call, p runs.Result) runs.Decide {
				return seeing(rules.Planned(c, p), func(r *runs.Run) {
					r.Order.AutoApprove = r.Order.AutoApprove || r.Status == runs.Checking && r.Terms.Approvals == 0
				})
			}
		},
		"opens gates": func(rules runs.Machine, m *runs.Machine) {
			m.Planned = func(c runs.Call, p runs.Result) runs.Decide {
				p.Gates = nil
				return rules.Planned(c, p)
			}
		},
		"carries approvals through gates": func(rules runs.Machine, m *runs.Machine) {
			m.Planned = func(c runs.Call, p runs.Result) runs.Decide {
				return seeing(rules.Planned(c, p), func(r *runs.Run) {
					if r.Earlier != nil {
						earlier := *r.Earlier
						earlier.Gates = []string{runs.GateFindings, runs.GateCost}
						r.Earlier = &earlier
					}
				})
			}
		},
		"ends lost applies": func(rules runs.Machine, m *runs.Machine) {
			m.Lose = func(c runs.Call) runs.Decide {
				return seeing(rules.Lose(c), func(r *runs.Run) { r.Touched = false })
			}
		},
		"cancels what has ended": func(rules runs.Machine, m *runs.Machine) {
			m.Cancel = func(c runs.Call, level string) runs.Decide {
				return seeing(rules.Cancel(c, level), func(r *runs.Run) {
					if r.Status.Ended() && r.Status != runs.Cancelled {
						r.Status = runs.Pending
					}
				})
			}
		},
		"forgets that it was cancelled": func(rules runs.Machine, m *runs.Machine) {
			m.Cancel = func(c runs.Call, level string) runs.Decide {
				return making(rules.Cancel(c, level), func(_ runs.Run, c *runs.Change) {
					c.Run.Cancel = nil
					if len(c.Events) > 0 {
						c.Events[0].At = time.Time{}
					}
				})
			}
		},
		"tells no events of loss": func(rules runs.Machine, m *runs.Machine) {
			m.Lose = func(c runs.Call) runs.Decide {
				return making(rules.Lose(c), func(_ runs.Run, c *runs.Change) { c.Events = nil })
			}
		},
	}
}

// TestModelNotices proves that the laws can be broken: each machine that leaves out a check is
// found in some schedule.
func TestModelNotices(t *testing.T) {
	suite.Deep(t)
	if suite.UnderRace {
		t.Skip("each machine is used by one goroutine, so the detector finds nothing in many minutes: make deep runs " +
			"this without it")
	}
	for name, mutate := range mutants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openModel(t, "")
			defer func() { _ = store.Close() }()
			machine := runs.Rules()
			mutate(runs.Rules(), &machine)
			for seed := range uint64(400) {
				if err := newWorld(chooser(seed), machine, store).follow(); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("no schedule shows it")
		})
	}
}
