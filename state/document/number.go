package document

import (
	"strconv"
	"strings"
)

// sameNumber compares JSON numbers as decimals, however long: 1.0, 1 and 10e-1 are the
// same, and 9007199254740993 is not 9007199254740992.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, xok := readDecimal(a)
	y, yok := readDecimal(b)
	return xok && yok && x == y
}

// decimal is digits × 10^exponent, with no zero at either end of the digits; zero has none.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// readDecimal reads a JSON number; false if its exponent is beyond reason.
func readDecimal(text string) (decimal, bool) {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	mantissa, exponent := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	power, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil {
		return d, false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	d.exponent = power - int64(len(fraction)) + int64(len(digits)-len(d.digits))
	return d, true
}
