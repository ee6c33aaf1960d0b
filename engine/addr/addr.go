// Package addr holds the addresses of modules and resources: module.net["a"].aws_subnet.main[0].
package addr

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Key tells instances of one block apart: nil, an int of count or a string of for_each.
type Key any

// KeyString is a key as it stands in an address.
func KeyString(k Key) string {
	switch k := k.(type) {
	case int:
		return "[" + strconv.Itoa(k) + "]"
	case string:
		return "[" + quote(k) + "]"
	}
	return ""
}

// quote is a string as HCL quotes it: an interpolation in it would be one.
func quote(s string) string {
	q := strconv.Quote(s)
	q = strings.ReplaceAll(q, "${", "$${")
	return strings.ReplaceAll(q, "%{", "%%{")
}

// Step is one module call of a path, with the instance of it.
type Step struct {
	Name string
	Key  Key
}

// Module is the path to an instance of a module. The root's is empty.
type Module []Step

func (m Module) String() string {
	var b strings.Builder
	for i, s := range m {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString("module." + s.Name + KeyString(s.Key))
	}
	return b.String()
}

// Config is the path without instances, which names the module's configuration.
func (m Module) Config() string {
	bare := make(Module, len(m))
	for i, s := range m {
		bare[i].Name = s.Name
	}
	return bare.String()
}

// Child is the path of a module that m calls.
func (m Module) Child(name string, key Key) Module {
	return append(m[:len(m):len(m)], Step{name, key})
}

// Resource is the address of a resource's or data source's instance.
type Resource struct {
	Module     Module
	Data       bool
	Type, Name string
	Key        Key
}

func (r Resource) String() string { return within(r.Module.String(), r.Local()) + KeyString(r.Key) }

// Config is the address of the block in the configuration, without any instance.
func (r Resource) Config() string { return within(r.Module.Config(), r.Local()) }

// Whole is the address of all instances of the block in one instance of its module.
func (r Resource) Whole() string { return within(r.Module.String(), r.Local()) }

// WithKey is the same block's other instance.
func (r Resource) WithKey(k Key) Resource {
	r.Key = k
	return r
}

// Local is the address within its module, without the instance.
func (r Resource) Local() string {
	if r.Data {
		return "data." + r.Type + "." + r.Name
	}
	return r.Type + "." + r.Name
}

func within(module, rest string) string {
	if module == "" {
		return rest
	}
	return module + "." + rest
}

// CompareKeys orders keys: none first, then numbers, then strings.
func CompareKeys(a, b Key) int {
	if ai, ok := a.(int); ok {
		if bi, ok := b.(int); ok {
			return cmp.Compare(ai, bi)
		}
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
}

func rank(k Key) int {
	switch k.(type) {
	case nil:
		return 0
	case int:
		return 1
	}
	return 2
}

// Compare orders resources by address, with counted instances by number.
func Compare(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Whole(), b.Whole()), CompareKeys(a.Key, b.Key))
}
