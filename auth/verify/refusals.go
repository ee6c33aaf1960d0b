package verify

import (
	"maps"
	"sync"

	"github.com/holdfast/holdfast/fault"
)

// refusals counts why credentials were refused.
type refusals struct {
	mu sync.Mutex
	of map[fault.Code]uint64
}

func newRefusals() *refusals {
	r := &refusals{of: map[fault.Code]uint64{}}
	for _, code := range []fault.Code{
		fault.CredentialsWrong, fault.TooManyFailures, fault.KeyExpired, fault.AddressRefused, fault.CredentialsRevoked,
		fault.TokenRefused, fault.IssuerUnavailable, fault.Busy, fault.InternalError,
	} {
		r.of[code] = 0
	}
	return r
}

// count adds one. Whatever has no count of its own is a fault of the server's.
func (r *refusals) count(code fault.Code) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.of[code]; !known {
		code = fault.InternalError
	}
	r.of[code]++
}

// Refusals returns how many credentials were refused since the verifier was made, for each code of
// a refusal. Requests without any credentials are none of them.
func (v *Verifier) Refusals() map[fault.Code]uint64 {
	v.refusals.mu.Lock()
	defer v.refusals.mu.Unlock()
	return maps.Clone(v.refusals.of)
}
