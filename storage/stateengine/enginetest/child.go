package enginetest

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
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
	c.Seals().Use(seal.New(sealtest.MasterIn(c.dir), sealtest.Told(c.Keys(), c.Pass)), nil)
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
