package state

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// serialReach is how many of a state's versions are looked at for one with a serial.
const serialReach = 10_000

// Numbered is a version that was looked for by its serial.
type Numbered struct {
	Number uint64
	Newest bool // of the state's versions
}

// WithSerial returns the newest version with a serial, for who may read its bytes: serials may
// repeat, numbers don't. Faults: VersionNotFound; SerialTooOld where there are more versions than
// are looked at, and none of the newest has it.
func (s *Service) WithSerial(ctx context.Context, p auth.Principal, name Name, serial uint64) (Numbered, error) {
	return s.withSerial(ctx, p, auth.ReadState, name, serial)
}

// ToPurge is WithSerial for who may purge it. One that is purged is found as well.
func (s *Service) ToPurge(ctx context.Context, p auth.Principal, name Name, serial uint64) (Numbered, error) {
	return s.withSerial(ctx, p, auth.PurgeVersions, name, serial)
}

func (s *Service) withSerial(ctx context.Context, p auth.Principal, right auth.Right, name Name,
	serial uint64) (found Numbered, err error) {
	ref, err := s.authorize(ctx, p, right, name)
	if err != nil {
		return Numbered{}, err
	}
	looked := 0
	err = s.eachVersion(ctx, ref, func(v Version) bool {
		if v.Serial == serial {
			found = Numbered{v.Number, looked == 0}
		}
		looked++
		return found.Number == 0 && looked < serialReach
	})
	switch {
	case err != nil || found.Number > 0:
		return found, err
	case looked == serialReach:
		return Numbered{}, fault.New(fault.SerialTooOld,
			"none of the newest %d versions has the serial %d; ask for an older one by its number", serialReach, serial)
	}
	return Numbered{}, fault.New(fault.VersionNotFound, "the state has no version with the serial %d", serial)
}
