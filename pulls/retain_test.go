package pulls_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
)

// What is over is known for a time, and of each repository no more than so many: whatever comes.
func TestPullsThatAreOverAreForgotten(t *testing.T) {
	w := newWorld(t, forge.GitHub)
	ctx := t.Context()
	w.Resting = 300 // more than are swept at once
	rest := func(repository string, number int64, seen time.Time) {
		ref := pulls.Ref{Org: w.ref.Org, Repository: repository, Number: number}
		if err := w.Store.Hint(ctx, ref, w.now); err != nil {
			t.Fatal(err)
		}
		token := uuid.NewString()
		p, hints, _, err := w.Store.Claim(ctx, ref, token, w.now, w.now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		p.Closed, p.SeenAt = true, seen
		if _, err := w.Store.Save(ctx, p, token); err != nil {
			t.Fatal(err)
		}
		if err := w.Store.Finish(ctx, ref, token, hints, w.now, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	w.look() // an open one
	old := w.now.Add(-91 * 24 * time.Hour)
	rest("infra", 1, old)
	rest("infra", 2, w.now)
	for number := range int64(303) {
		rest("busy", number+1, w.now)
	}
	rest("busy", 2000, old)
	rest("last", 1, w.now)
	if err := w.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	for repository, want := range map[string]map[int64]bool{
		"infra": {1: false, 2: true, 7: true}, "busy": {1: false, 3: false, 4: true, 303: true, 2000: false},
		"last": {1: true},
	} {
		for number, there := range want {
			_, found, err := w.Store.Pull(ctx, pulls.Ref{Org: w.ref.Org, Repository: repository, Number: number})
			if err != nil || found != there {
				t.Errorf("%s#%d is known: %v, %v", repository, number, found, err)
			}
		}
	}
}
