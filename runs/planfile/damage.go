package planfile

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"io"
)

// isDamage reports whether an error is about the bytes of the file, rather than about getting them.
func isDamage(err error) bool {
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok {
		return true
	}
	for _, known := range []error{zip.ErrFormat, zip.ErrAlgorithm, zip.ErrChecksum, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
