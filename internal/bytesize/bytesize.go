// Package bytesize reads amounts of bytes as operators write them.
package bytesize

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	sizeForm  = regexp.MustCompile(`^([0-9]+) ?([A-Za-z]*)$`)
	errNoSize = errors.New("is not a size above 0, such as 512MiB, 10MB or a number of bytes")
)

// Parse takes a whole number of bytes with an optional unit. 10M is refused, since
// people read it both ways.
func Parse(text string) (int64, error) {
	form := sizeForm.FindStringSubmatch(text)
	if form == nil {
		return 0, errNoSize
	}
	unit, known := sizeUnit(form[2])
	n, err := strconv.ParseInt(form[1], 10, 64)
	switch {
	case !known || err != nil || n == 0:
		return 0, errNoSize
	case n > math.MaxInt64/unit:
		return 0, errors.New("is larger than a size can be")
	}
	return n * unit, nil
}

func sizeUnit(name string) (int64, bool) {
	switch strings.ToLower(name) {
	case "", "b":
		return 1, true
	case "kb":
		return 1e3, true
	case "mb":
		return 1e6, true
	case "gb":
		return 1e9, true
	case "kib":
		return 1 << 10, true
	case "mib":
		return 1 << 20, true
	case "gib":
		return 1 << 30, true
	}
	return 0, false
}
