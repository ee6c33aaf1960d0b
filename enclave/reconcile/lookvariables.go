package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// The kinds of variables.
const (
	kindTerraform   = "terraform"
	kindEnvironment = "environment"
)

// wanted are the variables that a partition's workspace is to have.
func (l *look) wanted() (all []api.VariableValue) {
	add := func(kind string, values map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			all = append(all, api.VariableValue{Kind: kind, Name: name, Value: values[name]})
		}
	}
	p := l.partition
	add(kindTerraform, p.Context())
	add(kindEnvironment, p.Enclave.Driver().AuthEnv(p.Enclave))
	for _, in := range l.inputs {
		all = append(all, api.VariableValue{Kind: kindTerraform, Name: in.Name, Value: in.Value, Sensitive: in.Sensitive})
	}
	return all
}

// leftover are the variables that a reconcile has set before, and that are not wanted any more.
func leftover(before []string, wanted []api.VariableValue) (gone []api.VariableKey) {
	for _, known := range before {
		kind, name, ok := strings.Cut(known, ".")
		if ok && !slices.ContainsFunc(wanted, func(v api.VariableValue) bool { return v.Kind == kind && v.Name == name }) {
			gone = append(gone, api.VariableKey{Kind: kind, Name: name})
		}
	}
	return gone
}

// lookVariables compares variables. Values of sensitive ones are not shown: what they are made of is in the
// record.
func (r *Reconciler) lookVariables(ctx context.Context, l *look) error {
	var have []api.Variable
	if l.workspace != nil {
		var err error
		if have, err = r.Server.Variables(ctx, l.partition.Path()); err != nil {
			return err
		}
	}
	find := func(kind, name string) *api.Variable {
		for i, v := range have {
			if v.Kind == kind && v.Name == name {
				return &have[i]
			}
		}
		return nil
	}
	for _, want := range l.wanted() {
		l.record.Variables = append(l.record.Variables, want.Kind+"."+want.Name)
		is := find(want.Kind, want.Name)
		if is == nil || !isAsWanted(*is, want) {
			l.variables.Set = append(l.variables.Set, want)
		}
	}
	l.variables.Unset = slices.DeleteFunc(l.variables.Unset,
		func(k api.VariableKey) bool { return find(k.Kind, k.Name) == nil })
	slices.Sort(l.record.Variables)
	if l.workspace != nil {
		for _, v := range l.variables.Set {
			l.because("the variable %s differs", v.Name)
		}
		for _, v := range l.variables.Unset {
			l.because("the variable %s is not set any more", v.Name)
		}
	}
	return nil
}

// isAsWanted compares a variable, as far as it is shown.
func isAsWanted(is api.Variable, want api.VariableValue) bool {
	if is.Sensitive != want.Sensitive || is.HCL {
		return false
	}
	return want.Sensitive || is.Value != nil && *is.Value == want.Value
}
