package sqluploads

import (
	"context"
	"crypto/sha256"

	"github.com/holdfast/holdfast/inventory"
)

func (t *transaction) insertBatches(ctx context.Context, fresh []*entry) error {
	insert := t.newInsert("inventory_batches (org, id, digest, request, at, records, created)", "")
	for _, e := range fresh {
		r := t.batches[e.batch.ID].receipt
		err := insert.add(ctx, fixedSize, t.org.String(), e.batch.ID, e.batch.Digest[:], r.Request, r.At, r.Count, t.now)
		if err != nil {
			return err
		}
	}
	return insert.flush(ctx)
}

// count adds the batches to their groups.
func (t *transaction) count(ctx context.Context, fresh []*entry) error {
	insert := t.newInsert("inventory_groups (org, names, provider, category, resource_type, records, first_at, last_at)",
		t.speaks.adding("inventory_groups", "org, names", "records", "last_at"))
	for _, g := range t.groups(fresh) {
		size := fixedSize + len(g.Provider) + len(g.Category) + len(g.ResourceType)
		err := insert.add(ctx, size, t.org.String(), namesOf(g.Provider, g.Category, g.ResourceType),
			g.Provider, g.Category, g.ResourceType, g.Count, g.First, g.Last)
		if err != nil {
			return err
		}
	}
	return insert.flush(ctx)
}

func (t *transaction) groups(fresh []*entry) []inventory.Group {
	found := map[[3]string]*inventory.Group{}
	var all []*inventory.Group
	for _, e := range fresh {
		at := t.batches[e.batch.ID].receipt.At
		for _, r := range e.batch.Resources {
			names := [3]string{r.Provider, r.Category, r.ResourceType}
			g := found[names]
			if g == nil {
				g = &inventory.Group{Provider: r.Provider, Category: r.Category, ResourceType: r.ResourceType, First: at}
				found[names] = g
				all = append(all, g)
			}
			g.Count++
			g.Last = at
		}
	}
	groups := make([]inventory.Group, len(all))
	for i, g := range all {
		groups[i] = *g
	}
	return groups
}

// namesOf is a group's key.
func namesOf(provider, category, resourceType string) []byte {
	names := sha256.Sum256([]byte(provider + "\x00" + category + "\x00" + resourceType))
	return names[:]
}
