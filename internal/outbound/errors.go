package outbound

import (
	"errors"
	"net/url"
)

// WithoutAddress is an error without the address that net/http puts before it, which may have a secret in it.
func WithoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
