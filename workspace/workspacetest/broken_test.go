package workspacetest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
	"github.com/holdfast/holdfast/workspace/workspacetest"
)

// broken is a store of which something can be replaced.
type broken struct {
	workspace.Store
	update    func(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error)
	find      func(ctx context.Context, ref workspace.Ref) (workspace.Workspace, error)
	list      func(ctx context.Context, org uuid.UUID, after string, limit int) ([]workspace.Workspace, error)
	variables func(ctx context.Context, ref workspace.Ref) (workspace.Variables, error)
	put       func(ctx context.Context, org uuid.UUID, r io.Reader, limit int64) (workspace.Digest, int64, error)
	open      func(ctx context.Context, org uuid.UUID, d workspace.Digest) (io.Reader, int64, error)
	sent      func(ctx context.Context, ref workspace.Ref, all []workspace.Digest) (map[workspace.Digest]bool, error)
	sweep     func(ctx context.Context) error
	add       func(ctx context.Context, ref workspace.Ref, s workspace.Snapshot, about workspace.Entry, parent *int64,
		event *audit.Event) (workspace.Entry, error)
	entry  func(ctx context.Context, ref workspace.Ref, number int64, id workspace.Digest) (workspace.Entry, error)
	remove func(ctx context.Context, ref workspace.Ref, number int64) error
	forget func(ctx context.Context, e workspace.Undelivered) error
}

func (b *broken) Update(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error) {
	return b.update(ctx, ref, decide)
}
func (b *broken) Workspace(ctx context.Context, ref workspace.Ref) (workspace.Workspace, error) {
	return b.find(ctx, ref)
}
func (b *broken) Workspaces(ctx context.Context, org uuid.UUID, after string,
	limit int) ([]workspace.Workspace, error) {
	return b.list(ctx, org, after, limit)
}
func (b *broken) Variables(ctx context.Context, ref workspace.Ref) (workspace.Variables, error) {
	return b.variables(ctx, ref)
}
func (b *broken) PutContent(ctx context.Context, org uuid.UUID, r io.Reader,
	limit int64) (workspace.Digest, int64, error) {
	return b.put(ctx, org, r, limit)
}
func (b *broken) OpenContent(ctx context.Context, org uuid.UUID, d workspace.Digest) (io.Reader, int64, error) {
	return b.open(ctx, org, d)
}
func (b *broken) Sent(ctx context.Context, ref workspace.Ref,
	all []workspace.Digest) (map[workspace.Digest]bool, error) {
	return b.sent(ctx, ref, all)
}
func (b *broken) Sweep(ctx context.Context) error { return b.sweep(ctx) }
func (b *broken) AddSnapshot(ctx context.Context, ref workspace.Ref, s workspace.Snapshot, about workspace.Entry,
	parent *int64, event *audit.Event) (workspace.Entry, error) {
	return b.add(ctx, ref, s, about, parent, event)
}
func (b *broken) Entry(ctx context.Context, ref workspace.Ref, number int64,
	id workspace.Digest) (workspace.Entry, error) {
	return b.entry(ctx, ref, number, id)
}
func (b *broken) RemoveEntry(ctx context.Context, ref workspace.Ref, number int64) error {
	return b.remove(ctx, ref, number)
}
func (b *broken) Forget(ctx context.Context, e workspace.Undelivered) error { return b.forget(ctx, e) }

func whole(s workspace.Store) *broken {
	return &broken{
		Store: s, update: s.Update, find: s.Workspace, list: s.Workspaces, variables: s.Variables, put: s.PutContent,
		open: s.OpenContent, sent: s.Sent,
		sweep: s.Sweep, add: s.AddSnapshot, entry: s.Entry, remove: s.RemoveEntry, forget: s.Forget,
	}
}

// breakages are ways to break the contract, each with a law that has to notice.
func breakages() map[string]struct {
	law     string
	breakIt func(*broken)
} {
	return map[string]struct {
		law     string
		breakIt func(*broken)
	}{
		"a refusal is carried out": {"RefusedChange", func(b *broken) {
			b.update = func(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error) {
				var refusal error
				w, err := b.Store.Update(ctx, ref,
					func(w *workspace.Workspace, own []workspace.Variable) (c workspace.Change, _ error) {
						c, refusal = decide(w, own)
						c.Touched = &workspace.Touched{}
						return c, nil
					})
				return w, errors.Join(refusal, err)
			}
		}},
		"a decision is about what was": {"OneAfterAnother", func(b *broken) {
			var mu sync.Mutex
			var was *workspace.Workspace // as two calls in a row see it
			b.update = func(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error) {
				mu.Lock()
				given := was
				if was = nil; given == nil {
					if w, err := b.Store.Workspace(ctx, ref); err == nil {
						given, was = &w, &w
					}
				}
				mu.Unlock()
				c, err := decide(given, nil)
				if err != nil {
					return workspace.Workspace{}, err
				}
				return b.Store.Update(ctx, ref,
					func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) { return c, nil })
			}
		}},
		"the revision stands still": {"Revisions", func(b *broken) {
			b.find = func(ctx context.Context, ref workspace.Ref) (workspace.Workspace, error) {
				w, err := b.Store.Workspace(ctx, ref)
				w.Revision = 1
				return w, err
			}
		}},
		"a page begins with the last one": {"Pages", func(b *broken) {
			b.list = func(ctx context.Context, org uuid.UUID, after string, limit int) ([]workspace.Workspace, error) {
				page, err := b.Store.Workspaces(ctx, org, "", 1000)
				for len(page) > 0 && string(page[0].Name) < after {
					page = page[1:]
				}
				return page[:min(len(page), limit)], err
			}
		}},
		"variables of all": {"Isolation", func(b *broken) {
			var seen []workspace.Variable
			b.variables = func(ctx context.Context, ref workspace.Ref) (workspace.Variables, error) {
				v, err := b.Store.Variables(ctx, ref)
				v.Own = append(v.Own, seen...)
				return v, err
			}
			b.update = func(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error) {
				return b.Store.Update(ctx, ref, func(w *workspace.Workspace, own []workspace.Variable) (workspace.Change, error) {
					c, err := decide(w, own)
					seen = append(seen, c.Set...)
					return c, err
				})
			}
		}},
		"a deletion leaves the variables": {"Deletion", func(b *broken) {
			b.update = func(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error) {
				var deleted bool
				before, _ := b.Store.Variables(ctx, ref)
				w, err := b.Store.Update(ctx, ref,
					func(w *workspace.Workspace, own []workspace.Variable) (workspace.Change, error) {
						c, err := decide(w, own)
						deleted = c.Delete
						return c, err
					})
				if deleted && err == nil {
					_, err = b.Store.Update(ctx, ref, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
						return workspace.Change{Set: before.Own, Touched: &workspace.Touched{}}, nil
					})
				}
				return w, err
			}
		}},
		"an event is lost": {"Events", func(b *broken) {
			b.add = func(ctx context.Context, ref workspace.Ref, s workspace.Snapshot, about workspace.Entry, parent *int64,
				_ *audit.Event) (workspace.Entry, error) {
				return b.Store.AddSnapshot(ctx, ref, s, about, parent, nil)
			}
		}},
		"an event stays": {"Events", func(b *broken) {
			b.forget = func(context.Context, workspace.Undelivered) error { return nil }
		}},
		"a content is cut at its limit": {"Contents", func(b *broken) {
			b.put = func(ctx context.Context, org uuid.UUID, r io.Reader, limit int64) (workspace.Digest, int64, error) {
				return b.Store.PutContent(ctx, org, io.LimitReader(r, limit), limit)
			}
		}},
		"an error ends a content": {"Contents", func(b *broken) {
			b.put = func(ctx context.Context, org uuid.UUID, r io.Reader, limit int64) (workspace.Digest, int64, error) {
				all, _ := io.ReadAll(r)
				return b.Store.PutContent(ctx, org, bytes.NewReader(all), limit)
			}
		}},
		"what was sent for one workspace was sent for all": {"Sent", func(b *broken) {
			b.sent = func(ctx context.Context, ref workspace.Ref, all []workspace.Digest) (map[workspace.Digest]bool, error) {
				ref.Name = "a"
				return b.Store.Sent(ctx, ref, all)
			}
		}},
		"the same again is another one": {"SameSnapshot", func(b *broken) {
			b.add = func(ctx context.Context, ref workspace.Ref, s workspace.Snapshot, about workspace.Entry, parent *int64,
				event *audit.Event) (workspace.Entry, error) {
				e, err := b.Store.AddSnapshot(ctx, ref, s, about, parent, event)
				if err == nil && e.ID == s.ID && e.Number == 1 && parent != nil {
					e.Number = 2
				}
				return e, err
			}
		}},
		"whoever comes last wins": {"Parents", func(b *broken) {
			b.add = func(ctx context.Context, ref workspace.Ref, s workspace.Snapshot, about workspace.Entry, _ *int64,
				event *audit.Event) (workspace.Entry, error) {
				return b.Store.AddSnapshot(ctx, ref, s, about, nil, event)
			}
		}},
		"missing contents are passed over": {"MissingContents", func(b *broken) {
			b.add = func(ctx context.Context, ref workspace.Ref, s workspace.Snapshot, about workspace.Entry, parent *int64,
				event *audit.Event) (workspace.Entry, error) {
				e, err := b.Store.AddSnapshot(ctx, ref, s, about, parent, event)
				if fault.Is(err, fault.FilesMissing) {
					return about, nil
				}
				return e, err
			}
		}},
		"the oldest of an ID": {"SameSnapshot", func(b *broken) {
			b.entry = func(ctx context.Context, ref workspace.Ref, number int64, id workspace.Digest) (workspace.Entry, error) {
				all, err := b.Store.Entries(ctx, ref, 0, 100)
				for i := range all {
					if e := all[len(all)-1-i]; e.ID == id || e.Number == number {
						return e, err
					}
				}
				return b.Store.Entry(ctx, ref, number, id)
			}
		}},
		"nothing is removed": {"Entries", func(b *broken) {
			b.remove = func(context.Context, workspace.Ref, int64) error { return nil }
		}},
		"a removal takes contents with it": {"NeededContents", func(b *broken) {
			gone := map[workspace.Digest]bool{}
			b.remove = func(ctx context.Context, ref workspace.Ref, number int64) error {
				if e, err := b.Store.Entry(ctx, ref, number, workspace.Digest{}); err == nil {
					s, err := b.Store.Files(ctx, ref.Org, e.ID)
					if err != nil {
						return err
					}
					for _, d := range s.Contents() {
						gone[d] = true
					}
				}
				return b.Store.RemoveEntry(ctx, ref, number)
			}
			b.open = func(ctx context.Context, org uuid.UUID, d workspace.Digest) (io.Reader, int64, error) {
				if gone[d] {
					d = workspace.Digest{}
				}
				return b.Store.OpenContent(ctx, org, d)
			}
		}},
		"nothing is swept": {"SweepAfterDeletion", func(b *broken) {
			b.sweep = func(context.Context) error { return nil }
		}},
		"a call goes on after its context": {"EndedContext", func(b *broken) {
			b.update = func(ctx context.Context, ref workspace.Ref, decide workspace.Decide) (workspace.Workspace, error) {
				return b.Store.Update(context.WithoutCancel(ctx), ref, decide)
			}
		}},
	}
}

func open(t *testing.T, clock *workspacetest.Clock) workspace.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return sqlworkspace.New(db, seal.New(seal.NewMaster(), sqldb.NewKeys(db)), clock.Now)
}

// The suite notices every broken store.
func TestBrokenStoresAreNoticed(t *testing.T) {
	for name, b := range breakages() {
		t.Run(name, func(t *testing.T) {
			for _, law := range workspacetest.Laws() {
				if law.Name != b.law {
					continue
				}
				clock := workspacetest.NewClock()
				store := whole(open(t, clock))
				b.breakIt(store)
				if err := law.Check(t.Context(), store, clock); err == nil {
					t.Errorf("%s did not notice", b.law)
				}
				return
			}
			t.Errorf("there is no law %s", b.law)
		})
	}
}
