package config

import (
	"fmt"
	"math/big"
	"net/netip"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func networkFunctions() map[string]function.Function {
	number := func(name string) function.Parameter { return function.Parameter{Name: name, Type: cty.Number} }
	prefix := function.Parameter{Name: "prefix", Type: cty.String}
	more := number("newbits")
	return map[string]function.Function{
		"cidrhost": function.New(&function.Spec{Params: []function.Parameter{prefix, number("hostnum")},
			Type: function.StaticReturnType(cty.String), Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				p, err := netip.ParsePrefix(args[0].AsString())
				if err != nil {
					return cty.NilVal, function.NewArgError(0, err)
				}
				n, _ := args[1].AsBigFloat().Int(nil)
				host, err := offset(p, p.Addr().BitLen(), n)
				if err != nil {
					return cty.NilVal, function.NewArgError(1, err)
				}
				return cty.StringVal(host.Addr().String()), nil
			}}),
		"cidrnetmask": textual([]string{"prefix"}, func(a []string) (string, error) {
			p, err := netip.ParsePrefix(a[0])
			if err != nil || !p.Addr().Is4() {
				return "", fmt.Errorf("%q is no IPv4 prefix", a[0])
			}
			full, _ := netip.AddrFrom4([4]byte{255, 255, 255, 255}).Prefix(p.Bits())
			return full.Addr().String(), nil
		}),
		"cidrsubnet": function.New(&function.Spec{Params: []function.Parameter{prefix, more, number("netnum")},
			Type: function.StaticReturnType(cty.String), Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				p, err := netip.ParsePrefix(args[0].AsString())
				if err != nil {
					return cty.NilVal, function.NewArgError(0, err)
				}
				bits, _ := args[1].AsBigFloat().Int64()
				n, _ := args[2].AsBigFloat().Int(nil)
				sub, err := offset(p, p.Bits()+int(bits), n)
				if err != nil || bits < 0 {
					return cty.NilVal, function.NewArgErrorf(2, "there is no such subnet of %s", p)
				}
				return cty.StringVal(sub.String()), nil
			}}),
		"cidrcontains": function.New(&function.Spec{
			Params: []function.Parameter{prefix, {Name: "contained", Type: cty.String}},
			Type:   function.StaticReturnType(cty.Bool), Impl: contains}),
		"cidrsubnets": function.New(&function.Spec{Params: []function.Parameter{prefix}, VarParam: &more,
			Type: function.StaticReturnType(cty.List(cty.String)), Impl: subnets}),
	}
}

// contains reports whether a prefix has an address, or all of another prefix, in it.
func contains(args []cty.Value, _ cty.Type) (cty.Value, error) {
	outer, err := netip.ParsePrefix(args[0].AsString())
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	text := args[1].AsString()
	if address, err := netip.ParseAddr(text); err == nil {
		return cty.BoolVal(outer.Contains(address)), nil
	}
	inner, err := netip.ParsePrefix(text)
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(1, "%q is neither an address nor a prefix", text)
	}
	return cty.BoolVal(outer.Bits() <= inner.Bits() && outer.Contains(inner.Masked().Addr())), nil
}

// offset is the nth prefix of the given length within p; negative ones count from the end.
func offset(p netip.Prefix, length int, n *big.Int) (netip.Prefix, error) {
	p = p.Masked()
	width := length - p.Bits()
	if width < 0 || length > p.Addr().BitLen() {
		return netip.Prefix{}, fmt.Errorf("%s has no prefixes of %d bits", p, length)
	}
	count := new(big.Int).Lsh(big.NewInt(1), uint(width))
	if n.Sign() < 0 {
		n = new(big.Int).Add(count, n)
	}
	if n.Sign() < 0 || n.Cmp(count) >= 0 {
		return netip.Prefix{}, fmt.Errorf("%s has no number %s", p, n)
	}
	at := new(big.Int).SetBytes(p.Addr().AsSlice())
	at.Add(at, new(big.Int).Lsh(n, uint(p.Addr().BitLen()-length)))
	bytes := at.FillBytes(make([]byte, p.Addr().BitLen()/8))
	a, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(a, length), nil
}

// subnets lays prefixes side by side, each at the next place that its size allows.
func subnets(args []cty.Value, _ cty.Type) (cty.Value, error) {
	p, err := netip.ParsePrefix(args[0].AsString())
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	p = p.Masked()
	all := p.Addr().BitLen()
	next := new(big.Int) // counted in addresses from the beginning of p
	var found []cty.Value
	for i, arg := range args[1:] {
		bits, _ := arg.AsBigFloat().Int64()
		length := p.Bits() + int(bits)
		if bits < 0 || length > all {
			return cty.NilVal, function.NewArgErrorf(i+1, "%s has no prefixes of %d bits", p, length)
		}
		size := new(big.Int).Lsh(big.NewInt(1), uint(all-length))
		n := new(big.Int).Add(next, new(big.Int).Sub(size, big.NewInt(1)))
		n.Div(n, size)
		sub, err := offset(p, length, n)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(i+1, "%s has no room left", p)
		}
		found = append(found, cty.StringVal(sub.String()))
		next.Mul(new(big.Int).Add(n, big.NewInt(1)), size)
	}
	if len(found) == 0 {
		return cty.ListValEmpty(cty.String), nil
	}
	return cty.ListVal(found), nil
}
