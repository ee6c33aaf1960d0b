package fuzzseeds

import (
	"bytes"
	"errors"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// header is the first line of a seed, as go test -fuzz writes it.
const header = "go test fuzz v1"

// decode gives the values of a seed: after the header, each line is one as Go spells it, such
// as []byte("\x00") or int64(-1).
func decode(seed []byte) ([]any, error) {
	first, rest, _ := strings.Cut(string(seed), "\n")
	if first != header {
		return nil, fmt.Errorf("the first line is %q, not %q", first, header)
	}
	var values []any
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		value, err := decodeValue(line)
		if err != nil {
			return nil, fmt.Errorf("the value %s: %w", line, err)
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return nil, errors.New("there is no value")
	}
	return values, nil
}

// decodeValue has Go's own type checker work out one line.
func decodeValue(line string) (any, error) {
	text, isBytes := strings.CutPrefix(line, "[]byte(")
	if isBytes {
		line = "string(" + text
	}
	result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, line)
	if err != nil {
		return nil, err
	}
	basic, ok := result.Type.(*types.Basic)
	if !ok || result.Value == nil {
		return nil, errors.New("is no constant")
	}
	value := valueOf(basic.Kind(), result.Value)
	switch {
	case value == nil:
		return nil, fmt.Errorf("has the type %s, which no target has so far", basic)
	case isBytes:
		return bytes.Clone([]byte(constant.StringVal(result.Value))), nil
	}
	return value, nil
}

// valueOf is a constant as a value of its type. The checker has made sure that it fits.
func valueOf(kind types.BasicKind, value constant.Value) any {
	signed, _ := constant.Int64Val(constant.ToInt(value))
	unsigned, _ := constant.Uint64Val(constant.ToInt(value))
	switch kind {
	case types.String:
		return constant.StringVal(value)
	case types.Bool:
		return constant.BoolVal(value)
	case types.Int:
		return int(signed)
	case types.Int64:
		return signed
	case types.Uint8:
		return uint8(unsigned)
	case types.Uint16:
		return uint16(unsigned)
	case types.Uint64:
		return unsigned
	}
	return nil
}
