package resourcestest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// indexDir is in the environment of the child that works on an index.
const indexDir = "HOLDFAST_RESOURCESTEST_DIR"

// ChildMain is the first call of an engine's TestMain. It returns at once, unless this
// process is the child that RunDurable starts: then it indexes what is written until it
// is killed, by itself.
func ChildMain(open func(dir string) (resources.Index, error)) {
	killtest.Child(indexDir, open, func(x resources.Index, seed uint64) {
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

func (s *script) now() time.Time { return indexTime.Add(time.Duration(s.steps) * time.Second) }

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
	p := auth.Principal{Org: []uuid.UUID{indexOrg, otherIndexOrg}[random.IntN(2)], KeyID: "key",
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
