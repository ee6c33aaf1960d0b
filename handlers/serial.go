package handlers

import (
	"context"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// serialReason is recorded with a version that was purged by its serial: those addresses have no
// place for a reason.
const serialReason = "deleted by its serial, at another server's address for that"

// inSerial reads a version's serial from the path.
func (r *request) inSerial() uint64 {
	serial, err := strconv.ParseUint(r.inPath("serial"), 10, 64)
	if err != nil {
		r.invalid("a serial is a number")
	}
	return serial
}

// serial sends the exact bytes of the newest version with a serial.
func (s states) serial(ctx context.Context, r *request, name state.Name) (answer, error) {
	serial := r.inSerial()
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := s.service.WithSerial(ctx, r.caller, name, serial)
	if err != nil {
		return nil, err
	}
	return s.bytes(ctx, r, name, found.Number)
}

// purgeSerial destroys the bytes of the newest version with a serial. To say so again is fine.
func (s states) purgeSerial(ctx context.Context, r *request, name state.Name) (answer, error) {
	serial := r.inSerial()
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := s.service.ToPurge(ctx, r.caller, name, serial)
	if err != nil {
		return nil, err
	}
	if found.Newest && s.spelling.keepsNewest {
		return nil, fault.New(fault.NewestKept, "version %d is the newest one, which stays at this address", found.Number)
	}
	_, err = s.destroy(ctx, r, name, state.Purging{Number: found.Number, Reason: serialReason})
	return nothing{http.StatusNoContent}, err
}
