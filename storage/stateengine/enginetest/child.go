package enginetest

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// child is the process that gets killed.
type child struct {
	Store
	*killtest.Moments
	dir string
}

func (e Engine) openChild(dir string) (*child, error) {
	s, err := e.Open(dir, sealtest.MasterIn(dir))
	return &child{Store: s, dir: dir}, err
}

// use has what becomes of data keys be told.
func (c *child) use() {
	if master := sealtest.MasterIn(c.dir); master != nil {
		c.Seals().Use(seal.New(master, sealtest.Told(c.Keys(), c.Pass)), nil)
	}
}

// rewrap makes new master keys, without end, and has each wrap all data keys.
func (c *child) rewrap() error {
	for {
		if err := seal.AddMaster(sealtest.MasterFile(c.dir)); err != nil {
			return err
		}
		c.Pass("there is a new master key")
		if _, err := c.Rewrap(context.Background(), sealtest.MasterIn(c.dir)); err != nil {
			return err
		}
		c.Pass("it has wrapped all data keys")
	}
}

// seal seals what is there, as Seal of every engine does.
func (c *child) seal() error {
	return c.Seals().SealAll(context.Background(), toldSealing{c.Store, c.Moments}, func(stateengine.SealProgress) {})
}

// shred destroys what one organization has.
func (c *child) shred() error {
	for removed := 1; removed > 0; {
		var err error
		if removed, err = c.Shred(context.Background(), doomed(), 3); err != nil {
			return err
		}
		c.Pass(fmt.Sprint("rows are gone: ", removed))
	}
	return nil
}

// toldSealing tells how sealing goes on.
type toldSealing struct {
	stateengine.Sealable
	moments *killtest.Moments
}

// SetSealing implements stateengine.Sealable.
func (s toldSealing) SetSealing(ctx context.Context, mode stateengine.SealMode) error {
	s.moments.Pass(fmt.Sprint("the mode is about to be ", mode))
	defer s.moments.Pass(fmt.Sprint("the mode is ", mode))
	return s.Sealable.SetSealing(ctx, mode)
}

// SealSome implements stateengine.Sealable.
func (s toldSealing) SealSome(ctx context.Context, in stateengine.Envelope) (n int, err error) {
	if n, err = s.Sealable.SealSome(ctx, in); n > 0 {
		s.moments.Pass(fmt.Sprint("rows of a state are sealed: ", n))
	}
	return n, err
}

// Overwrite implements stateengine.Sealable.
func (s toldSealing) Overwrite(ctx context.Context) error {
	s.moments.Pass("what was replaced is about to be overwritten")
	defer s.moments.Pass("what was replaced is overwritten")
	return s.Sealable.Overwrite(ctx)
}
