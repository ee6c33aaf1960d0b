package resourcestest

import (
	"context"
	"iter"
	"os"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

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
			if count++; count%260 == 0 { // an engine may store so many together
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
