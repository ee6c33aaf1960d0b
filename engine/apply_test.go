package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// refusing counts what is tried, and refuses all of it.
func (s *site) refusing() *int {
	tried := new(int)
	s.world.Fail = func(string, string) error {
		*tried++
		return &provider.Fault{Summary: "no", Code: 403}
	}
	return tried
}

// After a failure nothing is begun any more, also of what depends on nothing and only waited for its turn.
func TestNothingIsBegunAfterAFailure(t *testing.T) {
	s := newSite(t, things(20))
	tried := s.refusing()
	result, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1})
	if err == nil || *tried != 1 || len(result.Failed) != 1 || len(result.NotBegun) != 19 {
		t.Errorf("%d were tried, %d not begun: %v", *tried, len(result.NotBegun), err)
	}
	*tried = 0
	result, err = s.apply(plan.Options{}, apply.Options{Parallelism: 1, Continue: true})
	if err == nil || *tried != 20 || len(result.Failed) != 20 {
		t.Errorf("of what depends on nothing %d were tried: %v", *tried, err)
	}
}

// After an interrupt what has begun is done and recorded, and what only waited for its turn isn't begun.
func TestNothingIsBegunAfterAnInterrupt(t *testing.T) {
	for name, goOn := range map[string]bool{"stop": false, "continue": true} {
		s := newSite(t, things(20))
		stop := make(chan struct{})
		var once sync.Once
		result, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1, Continue: goOn, Stop: stop,
			Before: func(context.Context, *plan.Change) error {
				once.Do(func() { close(stop) })
				return nil
			}})
		if err == nil || !strings.Contains(err.Error(), "interrupted") || len(result.Succeeded) != 1 ||
			len(result.NotBegun) != 19 || s.world.Len() != 1 {
			t.Errorf("%s: %d done, %d not begun: %v", name, len(result.Succeeded), len(result.NotBegun), err)
		}
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		s.settled(t)
	}
}

// recordedShape is the instance that a state has of shape_all.a.
func recordedShape(t *testing.T, result *apply.Result) *statefile.Instance {
	t.Helper()
	_, in := result.State.Find(addr.Resource{Type: "shape_all", Name: "a"}, "")
	if in == nil {
		t.Fatalf("it isn't recorded: %+v", result.State)
	}
	return in
}

// A provider that says that it was busy, and gives an object back, has made it: it isn't asked again, or there would
// be a second one. What it gave is recorded, to be replaced.
func TestHalfMadeObjectIsRecordedAndNotMadeTwice(t *testing.T) {
	s, o := newOddSite(t, named("a"))
	tried := 0
	o.apply = func(_ provider.ApplyRequest, made provider.Object, _ error) (provider.Object, error) {
		tried++
		return made, &provider.Fault{Summary: "busy", Code: 503}
	}
	result, err := s.applied(t)
	if err == nil || !strings.Contains(err.Error(), "busy") || tried != 1 {
		t.Errorf("it was tried %d times: %v", tried, err)
	}
	if in := recordedShape(t, result); in.Status != statefile.Tainted {
		t.Errorf("it is recorded as %q", in.Status)
	}
}

// What creates may take as long as it needs, and isn't done again when nobody knows whether it was done.
func TestCreationThatTakesHoursIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, things(1))
		s.options = func(o *engine.Options) { o.Store = &memoryStore{} }
		s.world.Latency = 3 * time.Hour
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil || s.world.Len() != 1 {
			t.Errorf("%d objects: %v", s.world.Len(), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, things(1))
		s.options = func(o *engine.Options) { o.Store = &memoryStore{} }
		s.world.Latency = 30 * 24 * time.Hour
		start := time.Now()
		_, err := s.apply(plan.Options{}, apply.Options{})
		var fault *provider.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), "took too long") || time.Since(start) > 25*time.Hour {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// A provider that wants to be left alone for long isn't waited for with the state locked.
func TestProviderThatWantsHoursIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, things(1))
		tried := 0
		s.world.Fail = func(string, string) error {
			tried++
			return &provider.Fault{Summary: "come back tomorrow", Code: 429, After: 24 * 60 * 60}
		}
		start := time.Now()
		_, err := s.apply(plan.Options{}, apply.Options{})
		if err == nil || !strings.Contains(err.Error(), "come back tomorrow") || tried != 1 ||
			time.Since(start) > time.Minute {
			t.Errorf("after %d tries and %s: %v", tried, time.Since(start), err)
		}
	})
}

// A second interrupt tells the provider to stop, and what it has made until then is recorded. Who can't be told is cut
// off.
func TestProviderIsToldToStopAndSaysWhatThereIs(t *testing.T) {
	for name, refused := range map[string]error{"stops": nil, "can't be told": errors.New("no")} {
		s, o := newOddSite(t, named("a"))
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		told := make(chan struct{})
		o.stop = func() error {
			close(told)
			return refused
		}
		o.apply = func(_ provider.ApplyRequest, made provider.Object, _ error) (provider.Object, error) {
			interrupt()
			<-told
			return made, &provider.Fault{Summary: "it was stopped"}
		}
		e, p, err := s.plan(plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := e.Apply(ctx, p, apply.Options{})
		if err == nil || !strings.Contains(err.Error(), "it was stopped") ||
			recordedShape(t, result).Status != statefile.Tainted {
			t.Errorf("%s: %v", name, err)
		}
	}
}
