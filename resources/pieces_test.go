package resources_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
)

// recorded notes whose uploads go into an index, and acts behind the first.
type recorded struct {
	resources.Index
	orgs *[]uuid.UUID
	act  func()
}

func (r recorded) Record(ctx context.Context, org uuid.UUID, all []resources.Resource, cursor string) error {
	err := r.Index.Record(ctx, org, all, cursor)
	if *r.orgs = append(*r.orgs, org); len(*r.orgs) == 1 {
		r.act()
	}
	return err
}

// However much one organization uploaded, another one's uploads and states wait for a piece
// of it only, also those that came when the look had begun.
func TestLooksTakeAPieceOfEach(t *testing.T) {
	w := newWorld(t)
	w.write(globex, "app", vm(1, "i-globex"))
	w.catchUp()
	for i := range 20 {
		var all []string
		for j := range 100 {
			all = append(all, fmt.Sprintf(`{"resource_name":"vm-%d-%d","attributes":{"size":"large"}}`, i, j))
		}
		w.upload(acme, `{"provider":"aws","category":"compute","resource_type":"vm","instances":[`+strings.Join(all, ",")+
			`]}`)
	}
	var orgs []uuid.UUID
	w.indexer.Index = recorded{w.index, &orgs, func() {
		w.upload(globex, `{"provider":"aws","category":"compute","resource_type":"vm","instances":[{"resource_name":"one","attributes":{}}]}`)
		w.indexer.Wake(globex)
		w.write(globex, "app", vm(2, "i-newer"))
	}}
	w.indexer.Uploaded(acme)
	w.catchUp()
	if at := slices.Index(orgs, globex); at < 1 || at > 2 || len(orgs) < 8 {
		t.Errorf("uploads went into the index in pieces of %v; want that of %s behind the first", orgs, globex)
	}
	if len(w.find(globex, "i-newer")) == 0 {
		t.Error("a state that was written meanwhile is not in the index")
	}
}
