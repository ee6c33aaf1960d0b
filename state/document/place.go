package document

import (
	"cmp"
	"strings"
)

// Place says which object of a state an instance is.
type Place struct {
	// Address is the resource instance address as the clients print it, such as
	// module.net["eu"].aws_subnet.a[0].
	Address string `json:"address"`
	Module  string `json:"module,omitempty"` // empty for the root module
	Mode    string `json:"mode"`             // managed or data
	Type    string `json:"type"`
	Name    string `json:"name"`
	Key     Key    `json:"index_key,omitzero"`
	// Deposed is the key of a deposed object, empty for the current one.
	Deposed string `json:"deposed,omitempty"`
}

// The modes of a resource.
const (
	managed = "managed"
	data    = "data"
)

// String returns the address, with the deposed key if there is one.
func (p Place) String() string {
	if p.Deposed == "" {
		return p.Address
	}
	return p.Address + " (deposed " + p.Deposed + ")"
}

// address joins the parts as the clients do.
func (p Place) address() string {
	var b strings.Builder
	if p.Module != "" {
		b.WriteString(p.Module)
		b.WriteByte('.')
	}
	if p.Mode == data {
		b.WriteString("data.")
	}
	b.WriteString(p.Type)
	b.WriteByte('.')
	b.WriteString(p.Name)
	b.WriteString(p.Key.String())
	return b.String()
}

// compare orders places as the clients order a state, and numbers by value.
func (p Place) compare(q Place) int {
	return cmp.Or(
		cmp.Compare(p.Module, q.Module),
		cmp.Compare(p.Mode, q.Mode),
		cmp.Compare(p.Type, q.Type),
		cmp.Compare(p.Name, q.Name),
		p.Key.compare(q.Key),
		cmp.Compare(p.Deposed, q.Deposed),
	)
}
