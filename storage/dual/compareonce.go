package dual

import (
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// namedMost is how many organizations that differ the log names at a start.
const namedMost = 20

// comparing compares the sides once after a start, and remembers how far it came: a side may go
// away meanwhile.
type comparing struct {
	s      *Store
	listed bool
	left   []uuid.UUID // still to be compared
	failed map[uuid.UUID]bool
	differ int
}

// compareOnce compares the sides as soon as both are there, and says loudly when they
// differ: one of them may have been restored from a backup.
func (s *Store) compareOnce() {
	c := &comparing{s: s, failed: map[uuid.UUID]bool{}}
	for s.stop.Err() == nil {
		errs := s.sideStatus(s.stop)
		if errs[csv] == nil && errs[mysql] == nil && c.goOn() == nil {
			c.end()
			return
		}
		select {
		case <-s.o.After(lastWait):
		case <-s.stop.Done():
		}
	}
}

// goOn compares what is left. After an error it is to be called again later: the organization that
// it is of comes last then, so that it keeps no other one from being compared.
func (c *comparing) goOn() error {
	if !c.listed {
		orgs, err := c.s.organizations(c.s.stop)
		if err != nil {
			return err
		}
		c.left, c.listed = orgs, true
	}
	for len(c.left) > 0 {
		org := c.left[0]
		err := c.one(org)
		if c.s.stop.Err() != nil {
			return c.s.stop.Err()
		}
		c.left = c.left[1:]
		if err != nil {
			c.left = append(slices.Clip(c.left), org)
			return err
		}
	}
	return nil
}

// one compares an organization. That its file is damaged is told elsewhere, and stays.
func (c *comparing) one(org uuid.UUID) error {
	found, err := c.s.compare(c.s.stop, org)
	if err != nil && c.s.stop.Err() == nil && !c.failed[org] {
		c.failed[org] = true
		c.s.o.Log.Warn("the sides of the store could not be compared", "org", org, "error", err)
	}
	if fault.Is(err, fault.StoreCorrupt) {
		return nil
	}
	if err == nil && found.Differ {
		c.tell(found)
	}
	return err
}

func (c *comparing) tell(found Comparison) {
	c.s.differ.Store(true)
	if c.differ++; c.differ <= namedMost {
		c.s.o.Log.Error("the sides of the store differ by more than is owed; was one of them restored from a backup? See "+
			"`holdfast data compare`",
			"org", found.Org, "csv", found.CSV.Records, "mysql", found.MySQL.Records, "csv_newest", found.CSV.Newest.Time,
			"mysql_newest", found.MySQL.Newest.Time)
	}
}

func (c *comparing) end() {
	if c.differ > namedMost {
		c.s.o.Log.Error("the sides of the store differ in more organizations than are named here", "organizations", c.differ)
	}
	close(c.s.compared)
}
