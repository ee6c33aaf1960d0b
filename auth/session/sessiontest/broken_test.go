package sessiontest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/auth/session/sessiontest"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlsessions"
)

// broken is a store of which something is replaced.
type broken struct {
	session.Store
	add    func(ctx context.Context, s session.Session, limit int) ([]session.Session, error)
	touch  func(ctx context.Context, org uuid.UUID, h session.Hash, at time.Time) error
	find   func(ctx context.Context, org uuid.UUID, h session.Hash) (session.Session, bool, error)
	remove func(ctx context.Context, org uuid.UUID, h session.Hash) (bool, error)
	all    func(ctx context.Context, of session.Holder) (int, error)
	sweep  func(ctx context.Context, now, idle time.Time, limit int) (int, error)
}

func (b *broken) Add(ctx context.Context, s session.Session, limit int) ([]session.Session, error) {
	return b.add(ctx, s, limit)
}
func (b *broken) Touch(ctx context.Context, org uuid.UUID, h session.Hash, at time.Time) error {
	return b.touch(ctx, org, h, at)
}
func (b *broken) Session(ctx context.Context, org uuid.UUID, h session.Hash) (session.Session, bool, error) {
	return b.find(ctx, org, h)
}
func (b *broken) Remove(ctx context.Context, org uuid.UUID, h session.Hash) (bool, error) {
	return b.remove(ctx, org, h)
}
func (b *broken) RemoveAll(ctx context.Context, of session.Holder) (int, error) {
	return b.all(ctx, of)
}
func (b *broken) Sweep(ctx context.Context, now, idle time.Time, limit int) (int, error) {
	return b.sweep(ctx, now, idle, limit)
}

// Each store here breaks one sentence of the contract, and the suite notices.
func TestTheSuiteNotices(t *testing.T) {
	for name, spoil := range map[string]func(b *broken){
		"that never bounds": func(b *broken) {
			b.add = func(ctx context.Context, s session.Session, _ int) ([]session.Session, error) {
				return b.Store.Add(ctx, s, 1000)
			}
		},
		"that says of nobody that they made room": func(b *broken) {
			b.add = func(ctx context.Context, s session.Session, limit int) ([]session.Session, error) {
				_, err := b.Store.Add(ctx, s, limit)
				return nil, err
			}
		},
		"that loses a rule": func(b *broken) {
			b.add = func(ctx context.Context, s session.Session, limit int) ([]session.Session, error) {
				s.Login.Rule = ""
				return b.Store.Add(ctx, s, limit)
			}
		},
		"that bounds people by their rule": func(b *broken) {
			b.all = func(ctx context.Context, of session.Holder) (int, error) {
				n, err := b.Store.RemoveAll(ctx, of)
				if of.Subject == "ana" {
					of.Subject = "bob"
					_, err = b.Store.RemoveAll(ctx, of)
				}
				return n, err
			}
		},
		"that forgets no session": func(b *broken) {
			b.remove = func(context.Context, uuid.UUID, session.Hash) (bool, error) { return true, nil }
		},
		"that says each time that it removed": func(b *broken) {
			b.remove = func(ctx context.Context, org uuid.UUID, h session.Hash) (bool, error) {
				_, err := b.Store.Remove(ctx, org, h)
				return true, err
			}
		},
		"that brings back what is touched": func(b *broken) {
			var gone session.Session
			b.remove = func(ctx context.Context, org uuid.UUID, h session.Hash) (bool, error) {
				gone, _, _ = b.Store.Session(ctx, org, h)
				return b.Store.Remove(ctx, org, h)
			}
			b.touch = func(ctx context.Context, org uuid.UUID, h session.Hash, at time.Time) error {
				if gone.Hash == h {
					_, err := b.Store.Add(ctx, gone, 1000)
					return err
				}
				return b.Store.Touch(ctx, org, h, at)
			}
		},
		"that takes the time back": func(b *broken) {
			b.touch = func(ctx context.Context, org uuid.UUID, h session.Hash, at time.Time) error {
				one, found, err := b.Store.Session(ctx, org, h)
				if err != nil || !found {
					return err
				}
				one.Seen = at
				if _, err := b.Store.Remove(ctx, org, h); err != nil {
					return err
				}
				_, err = b.Store.Add(ctx, one, 1000)
				return err
			}
		},
		"that asks everybody's": func(b *broken) {
			b.find = func(ctx context.Context, org uuid.UUID, h session.Hash) (session.Session, bool, error) {
				one, found, err := b.Store.Session(ctx, org, h)
				if !found {
					one, found, err = b.Store.Session(ctx, uuid.MustParse("11111111-2222-3333-4444-555555555555"), h)
				}
				return one, found, err
			}
		},
		"that sweeps without a bound": func(b *broken) {
			b.sweep = func(ctx context.Context, now, idle time.Time, _ int) (int, error) {
				return b.Store.Sweep(ctx, now, idle, 1000)
			}
		},
		"that sweeps by one end only": func(b *broken) {
			b.sweep = func(ctx context.Context, _, idle time.Time, limit int) (int, error) {
				return b.Store.Sweep(ctx, time.Time{}, idle, limit)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := breaks(t, spoil); err == nil {
				t.Error("the suite has not noticed")
			}
		})
	}
}

// breaks returns the first law that a spoilt store breaks.
func breaks(t *testing.T, spoil func(*broken)) error {
	for _, law := range sessiontest.Laws() {
		db, err := sqldb.Open(t.Context(), sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		good := sqlsessions.New(db)
		b := &broken{good, good.Add, good.Touch, good.Session, good.Remove, good.RemoveAll, good.Sweep}
		spoil(b)
		broke := law(t.Context(), b, b)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if broke != nil {
			return broke
		}
	}
	return nil
}
