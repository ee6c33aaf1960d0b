package resourceindex_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

// Each kill ends a process in the middle of its work on an index. Whoever goes on with that has in the end what an
// index has that is made from scratch.
func TestKill(t *testing.T) {
	dir, steps, wentOn := t.TempDir(), 0, 0
	for _, moments := range []uint64{4, 2, 3, 7, 11} { // the first one is in the middle of a Replace
		told := killtest.Kill[indexStep](t, indexDir, dir, uint64(steps)<<32|moments, never)
		steps = told[len(told)-1].Steps
		s := newScript(steps)
		x := indexed{t, open(t, dir)}
		p, err := x.Position(t.Context())
		x.must(err)
		indexer := s.indexer(x.Index)
		x.must(indexer.CatchUp(t.Context()))
		if p.Complete && indexer.Activity().States < 6 { // one for each that is looked for
			wentOn++
		}
		fresh := indexed{t, open(t, t.TempDir())}
		x.must(s.indexer(fresh.Index).CatchUp(t.Context()))
		if diff := cmp.Diff(fresh.all(), x.all()); diff != "" {
			t.Fatalf("killed within the last of %d steps: what a rebuild has, and what is there:\n%.3000s", steps, diff)
		}
		x.must(x.Close())
		x.must(fresh.Close())
		x.must(s.close())
	}
	if wentOn == 0 {
		t.Error("the index was made anew after each kill: nothing was tried")
	}
}

// never is after how many acknowledgements a child is killed that sees to that by itself.
const never = 1 << 30

// all is what an index answers.
func (x indexed) all() map[string]any {
	x.t.Helper()
	ctx, all := x.t.Context(), map[string]any{}
	held, err := x.Holdings(ctx, state.Ref{}, 100)
	x.must(err)
	all["held"] = held
	p, err := x.Position(ctx)
	x.must(err)
	all["position"] = p
	for _, org := range []uuid.UUID{ourOrg, otherOrg} {
		for _, q := range []resources.Query{{}, {Words: []string{"i-7"}},
			{Attributes: []resources.Pair{{Name: "id", Value: "i-77"}}}} {
			q.Limit = 10_000
			found, _, err := x.Search(ctx, org, everything, q)
			x.must(err)
			all[fmt.Sprint(org, q)] = found
		}
		counts, err := x.Count(ctx, org, everything, resources.CoverageQuery{})
		x.must(err)
		all[fmt.Sprint("counts ", org)] = counts
		cursor, err := x.Cursor(ctx, org)
		x.must(err)
		all[fmt.Sprint("cursor ", org)] = cursor
	}
	return all
}

// indexDir is in the environment of the child that works on an index.
const indexDir = "HOLDFAST_RESOURCEINDEX_DIR"

// childMain is the first call of TestMain. It returns at once, unless this process is the child that TestKill starts:
// then it indexes what is written until it is killed, by itself.
func childMain() {
	open := func(dir string) (*resourceindex.Index, error) {
		return resourceindex.Open(context.Background(), filepath.Join(dir, "resources.db"), slog.New(slog.DiscardHandler))
	}
	killtest.Child(indexDir, open, func(x *resourceindex.Index, seed uint64) {
		s := newScript(int(seed >> 32))
		indexer := s.indexer(&mortal{Index: x, left: int(uint32(seed))})
		for {
			s.step()
			killtest.Tell(indexStep{Steps: s.steps})
			if err := indexer.CatchUp(context.Background()); err != nil {
				killtest.Tell(indexStep{Steps: s.steps, Reason: err.Error()})
			}
		}
	})
}

// indexStep is a line of what the child tells its parent: how many steps were done when it
// began to index them.
type indexStep struct {
	Steps  int
	Reason string // of a failure
}

// Outcome implements killtest.Told.
func (e indexStep) Outcome() (bool, error) {
	if e.Reason != "" {
		return false, fmt.Errorf("after %d steps: %s", e.Steps, e.Reason)
	}
	return true, nil
}

// script writes the same states and uploads, in the same steps, in every process: so the
// parent has what the child had, although that was in its memory only.
type script struct {
	states  state.Store
	door    *state.Service
	uploads *inventorytest.Store
	steps   int
}

func newScript(steps int) *script {
	s := &script{states: memory.New(1 << 30), uploads: inventorytest.New()}
	s.door = state.NewService(s.states, state.DefaultPolicies{}, s.now, slog.New(slog.DiscardHandler))
	for range steps {
		s.step()
	}
	return s
}

func (s *script) now() time.Time { return start.Add(time.Duration(s.steps) * time.Second) }

func (s *script) indexer(x resources.Index) *resources.Indexer {
	rules, err := resources.DefaultRules()
	if err != nil {
		panic(err) // they are built in
	}
	return resources.NewIndexer(resources.Sources{
		Index: x, States: s.states, Uploads: s.uploads, Rules: rules, Log: slog.New(slog.DiscardHandler), Now: s.now,
	})
}

// step does what one of its number does. Some are refused, a rollback of a state that is
// not there, say: nothing is written then.
func (s *script) step() {
	s.steps++
	random := rand.New(rand.NewPCG(1, uint64(s.steps)))
	ctx, name := context.Background(), []state.Name{"app", "db", "net/prod"}[random.IntN(3)]
	p := auth.Principal{Org: []uuid.UUID{ourOrg, otherOrg}[random.IntN(2)], KeyID: "key",
		Grant: auth.Grant{Role: auth.Owner}}
	var err error
	switch n := random.IntN(12); {
	case n < 6 || s.steps%6 == 1:
		_, err = s.door.Put(ctx, p, name, state.Write{Body: s.body(random)})
	case n < 8:
		err = s.upload(p.Org, random)
	case n == 8:
		err = s.door.Delete(ctx, p, name, "")
	case n == 9:
		_, err = s.door.Undelete(ctx, p, name)
	case n == 10:
		_, err = s.door.Rollback(ctx, p, name, 1+random.Uint64N(5), "why", "")
	default:
		err = s.door.Purge(ctx, p, name, 1+random.Uint64N(5), "why")
	}
	_ = err
}

// body is a state of up to 270 resources, some of them in other states too.
func (s *script) body(random *rand.Rand) []byte {
	var instances []string
	size := []int{0, 2, 8, 20}[random.IntN(4)]
	if s.steps%6 == 1 {
		size = 270
	}
	for n := range size {
		instances = append(instances, fmt.Sprintf(`{"index_key":%d,"attributes":{"id":"i-%d"}}`, n, random.IntN(2000)))
	}
	return fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"l","terraform_version":"1.9.0","resources":[{"mode":"managed","type":"aws_instance",
		"name":"web","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[%s]}]}`, s.steps,
		strings.Join(instances, ","))
}

func (s *script) upload(org uuid.UUID, random *rand.Rand) error {
	batch := inventory.Batch{ID: fmt.Sprint(s.steps), Org: org, Request: "r", At: s.now()}
	for range 20 {
		batch.Resources = append(batch.Resources, inventory.Resource{
			Provider: "aws", Category: "c", ResourceType: "vm_instance", ResourceName: fmt.Sprint(random.IntN(500)),
			Attributes: fmt.Appendf(nil, `{"id":"i-%d"}`, random.IntN(2000)),
		})
	}
	batch.Digest = inventorytest.DigestOf(batch.Resources)
	_, err := s.uploads.Append(context.Background(), batch)
	return err
}

func (s *script) close() error { return errors.Join(s.states.Close(), s.uploads.Close()) }

// mortal is an index whose process is killed at a certain moment: before or after a change,
// or in the middle of a Replace.
type mortal struct {
	resources.Index
	left int // moments until the end
}

func (m *mortal) moment() {
	if m.left--; m.left > 0 {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the end comes from outside
}

// Advance implements resources.Index.
func (m *mortal) Advance(ctx context.Context, p resources.Position) error {
	m.moment()
	defer m.moment()
	return m.Index.Advance(ctx, p)
}

// Replace implements resources.Index.
func (m *mortal) Replace(ctx context.Context, ref state.Ref, h resources.Holding,
	all iter.Seq[resources.Resource]) error {
	m.moment()
	defer m.moment()
	return m.Index.Replace(ctx, ref, h, func(yield func(resources.Resource) bool) {
		count := 0
		for one := range all {
			if count++; count%260 == 0 { // the first piece is stored, and the second is not
				m.moment()
			}
			if !yield(one) {
				return
			}
		}
	})
}

// Remove implements resources.Index.
func (m *mortal) Remove(ctx context.Context, ref state.Ref) error {
	m.moment()
	defer m.moment()
	return m.Index.Remove(ctx, ref)
}

// Record implements resources.Index.
func (m *mortal) Record(ctx context.Context, org uuid.UUID, all []resources.Resource, cursor string) error {
	m.moment()
	defer m.moment()
	return m.Index.Record(ctx, org, all, cursor)
}
