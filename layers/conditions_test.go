package layers_test

import (
	"testing"

	"github.com/holdfast/holdfast/layers"
)

// planned is a layer whose commit c1 is planned and applied.
func planned() layers.Facts {
	return layers.Facts{
		Branch: layers.Commit{ID: "c1"}, Relevant: layers.Commit{ID: "c1"}, Checked: at(1),
		Plan:    layers.PlanFact{Run: "R1", Commit: "c1", At: at(1), Changes: true, Digest: "d1"},
		Applied: layers.AppliedFact{Run: "R1", Plan: "R1", Commit: "c1", At: at(2), Digest: "d1"},
	}
}

func TestConditionsOfFacts(t *testing.T) {
	t.Parallel()
	const artifact, apply, commit = layers.IsPlanArtifactUpToDate, layers.IsApplyUpToDate,
		layers.IsLastRelevantCommitPlanned
	type asked = map[layers.ConditionType]string // the reasons
	for _, c := range []struct {
		what  string
		facts func(*layers.Facts)
		want  layers.State
		asked asked
	}{
		{"as it should be", func(f *layers.Facts) {}, layers.Idle,
			asked{artifact: "PlanIsRecent", apply: "ApplyUpToDate", commit: "LastRelevantCommitPlanned"}},
		{"never looked at", func(f *layers.Facts) { *f = layers.Facts{} }, layers.PlanNeeded,
			asked{artifact: "NoPlanHasRunYet", apply: "NoPlanHasRunYet", commit: "NoCommitReceived"}},
		{"first commit", func(f *layers.Facts) { *f = layers.Facts{Relevant: f.Relevant} }, layers.PlanNeeded,
			asked{commit: "NoCommitPlannedYet"}},
		{"a commit that changes it", func(f *layers.Facts) { f.Branch.ID, f.Relevant.ID = "c2", "c2" }, layers.PlanNeeded,
			asked{commit: "CommitNotPlanned"}},
		{"a commit that does not", func(f *layers.Facts) { f.Branch.ID = "c2" }, layers.Idle,
			asked{commit: "LastRelevantCommitPlanned"}},
		{"planned at the head", func(f *layers.Facts) { f.Branch.ID, f.Relevant.ID, f.Plan.Commit = "c3", "c2", "c3" },
			layers.Idle, asked{commit: "LastBranchCommitPlanned"}},
		{"not applied", func(f *layers.Facts) { f.Applied = layers.AppliedFact{} }, layers.ApplyNeeded,
			asked{apply: "NoApplyHasRun"}},
		{"another plan", func(f *layers.Facts) { f.Plan.Run = "R2" }, layers.ApplyNeeded, asked{apply: "NewPlanAvailable"}},
		{"another plan without changes", func(f *layers.Facts) { f.Plan.Run, f.Plan.Changes = "R2", false }, layers.Idle,
			asked{apply: "NothingToApply"}},
		{"drift", func(f *layers.Facts) { f.Drift = layers.DriftFact{Run: "D", At: at(3), Digest: "x", Count: 1} },
			layers.PlanNeeded, asked{artifact: "DriftFound"}},
		{"drift that is planned", func(f *layers.Facts) {
			f.Drift = layers.DriftFact{At: at(3), Digest: "x"}
			f.Plan.Run, f.Plan.At, f.Plan.Drift = "R2", at(4), "x"
		}, layers.ApplyNeeded, asked{artifact: "PlanIsRecent"}},
		{"the same drift once more", func(f *layers.Facts) {
			f.Drift = layers.DriftFact{At: at(5), Digest: "x"}
			f.Plan.Run, f.Plan.At, f.Plan.Drift = "R2", at(4), "x"
		}, layers.ApplyNeeded, asked{artifact: "PlanIsRecent"}},
		{"drift that is gone", func(f *layers.Facts) {
			f.Drift = layers.DriftFact{At: at(5)}
			f.Plan.Run, f.Plan.At, f.Plan.Drift = "R2", at(4), "x"
		}, layers.PlanNeeded, asked{artifact: "DriftHealed"}},
		{"asked for", func(f *layers.Facts) { f.Sync = layers.SyncFact{At: at(5), By: "ann"} }, layers.PlanNeeded,
			asked{layers.IsSyncScheduled: "SyncScheduled"}},
		{"failed", func(f *layers.Facts) { f.Failures = layers.Failures{Count: 1, Commit: "c1", Plan: true} },
			layers.PlanNeeded, asked{layers.HasLastPlanFailed: "PlanFailed",
				layers.HasLastRunReachedRetryLimit: "RetriesLeft"}},
		{"failed for good", func(f *layers.Facts) { f.Failures = layers.Failures{Count: 5, Commit: "c1", Plan: true} },
			layers.MaxRetriesReached, asked{layers.HasLastRunReachedRetryLimit: "RetryLimitReached"}},
		{"failed at once", func(f *layers.Facts) { f.Failures = layers.Failures{Count: 1, Commit: "c1", Final: true} },
			layers.MaxRetriesReached, asked{layers.HasLastRunReachedRetryLimit: "RetryLimitReached"}},
		{"failed for good, a new commit", func(f *layers.Facts) {
			f.Failures = layers.Failures{Count: 5, Commit: "c1", Plan: true}
			f.Branch.ID, f.Relevant.ID = "c2", "c2"
		}, layers.PlanNeeded, asked{layers.HasLastRunReachedRetryLimit: "NewCommit"}},
		{"failed for good, somebody asks", func(f *layers.Facts) {
			f.Failures, f.Sync = layers.Failures{Count: 5, Commit: "c1", Plan: true}, layers.SyncFact{At: at(6), By: "ann"}
		}, layers.PlanNeeded, nil},
	} {
		facts := planned()
		c.facts(&facts)
		set := layers.Conditions(facts, layers.Terms{Due: at(20)}, at(10))
		if got := layers.StateOf(set); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		for kind, reason := range c.asked {
			if got := set.Of(kind).Reason; got != reason {
				t.Errorf("%s: %s because of %s, want %s", c.what, kind, got, reason)
			}
		}
	}
	due := layers.Conditions(planned(), layers.Terms{Due: at(20)}, at(20))
	if got := due.Of(artifact); got.Reason != "PlanIsTooOld" || layers.StateOf(due) != layers.PlanNeeded {
		t.Errorf("%+v", got)
	}
}

func BenchmarkConditions(b *testing.B) {
	facts := make([]layers.Facts, 10_000)
	for i := range facts {
		facts[i] = planned()
	}
	b.ResetTimer()
	for range b.N { // 10,000 layers each
		for _, f := range facts {
			set := layers.Conditions(f, layers.Terms{Due: at(20)}, at(10))
			if layers.StateOf(set.Since(set, at(10))) != layers.Idle {
				b.Fatal("not idle")
			}
		}
	}
}
