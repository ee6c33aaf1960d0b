package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
)

// maxInstances bounds what count and for_each make of one block.
const maxInstances = 100_000

// Repeats lists the instances that count or for_each make: one without a key if there is neither. The
// second result says that the block is repeated at all.
func (s *Scope) Repeats(count, forEach hcl.Expression, construct string) ([]Repeat, bool, error) {
	switch {
	case count != nil:
		all, err := s.counted(count, construct)
		return all, true, err
	case forEach != nil:
		all, err := s.each(forEach, construct)
		return all, true, err
	}
	return []Repeat{{}}, false, nil
}

func (s *Scope) counted(expr hcl.Expression, construct string) ([]Repeat, error) {
	value, err := s.Eval(expr, Repeat{}, construct)
	if err != nil {
		return nil, err
	}
	if value.IsMarked() {
		return nil, diag.At(expr.Range(), construct, "count is sensitive, and addresses would show it")
	}
	if !value.IsKnown() {
		return nil, diag.At(expr.Range(), construct, "cannot compute count before resources exist").
			WithHint("make count depend on variables, or apply what it depends on first with -target")
	}
	number, err := convert.Convert(value, cty.Number)
	if err != nil || number.IsNull() {
		return nil, diag.At(expr.Range(), construct, "count is a whole number")
	}
	key, ok := addr.KeyOf(number)
	n, isInt := key.(int)
	if !ok || !isInt || n > maxInstances {
		return nil, diag.At(expr.Range(), construct, "count is a whole number from 0 to %d", maxInstances)
	}
	all := make([]Repeat, n)
	for i := range all {
		all[i].Key = i
	}
	return all, nil
}

func (s *Scope) each(expr hcl.Expression, construct string) ([]Repeat, error) {
	value, err := s.Eval(expr, Repeat{}, construct)
	if err != nil {
		return nil, err
	}
	t := value.Type()
	switch {
	case value.IsMarked():
		return nil, diag.At(expr.Range(), construct, "for_each is sensitive, and addresses would show it")
	case !value.IsKnown() || t.IsSetType() && !value.IsWhollyKnown():
		return nil, diag.At(expr.Range(), construct, "cannot compute for_each before resources exist").
			WithHint("give it keys that are known beforehand")
	case value.IsNull() || !t.IsMapType() && !t.IsObjectType() && !(t.IsSetType() &&
		(t.ElementType() == cty.String || value.LengthInt() == 0)):
		return nil, diag.At(expr.Range(), construct, "for_each is a map or a set of strings").
			WithHint("toset() makes a set of a list")
	}
	var all []Repeat
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if t.IsSetType() {
			key = element
		}
		if key.IsNull() {
			return nil, diag.At(expr.Range(), construct, "for_each has a null in its set")
		}
		all = append(all, Repeat{Key: key.AsString(), Value: element})
	}
	if len(all) > maxInstances {
		return nil, diag.At(expr.Range(), construct, "for_each makes more than %d instances", maxInstances)
	}
	return all, nil
}
