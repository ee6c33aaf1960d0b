package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/plugin"
)

// Installing says how to install.
type Installing struct {
	Upgrade bool           // choose versions anew, also those that are locked
	Frozen  bool           // fail where the lock file would change
	Modules config.Fetcher // brings modules that aren't in local folders; nil for none
}

// Install finds the providers that a configuration needs in mirrors and writes the lock file. Versions that
// are locked stay, unless it is told to choose anew.
func Install(_ context.Context, dir string, mirrors []string, how Installing) ([]plugin.Package, error) {
	upgrade := how.Upgrade
	root, err := config.LoadWith(dir, how.Modules)
	if err != nil {
		return nil, err
	}
	wanted := map[addr.Provider][]string{}
	if err := needed(root, wanted); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, plugin.LockFile)
	locks, err := plugin.ReadLocks(path)
	if err != nil {
		return nil, err
	}
	chosen := map[addr.Provider]plugin.Locked{}
	var packages []plugin.Package
	for _, p := range slices.SortedFunc(maps.Keys(wanted), func(a, b addr.Provider) int {
		return cmp.Compare(a.String(), b.String())
	}) {
		constraints := wanted[p]
		locked, ok := locks[p]
		if ok && !upgrade {
			constraints = append(slices.Clone(constraints), "= "+locked.Version)
		}
		found, err := plugin.Choose(mirrors, p, constraints)
		if err != nil {
			return nil, err
		}
		if ok && !upgrade {
			if err := found.Check(locked); err != nil {
				return nil, err
			}
		}
		hash, err := found.Hash()
		if err != nil {
			return nil, err
		}
		l := plugin.Locked{Source: p.String(), Version: found.Version, Constraints: provider.Constraints(wanted[p]...),
			Hashes: []string{hash}}
		if ok && !upgrade {
			l.Hashes = slices.Compact(slices.Sorted(slices.Values(append(l.Hashes, locked.Hashes...))))
		}
		chosen[p], packages = l, append(packages, found)
	}
	if how.Frozen {
		return packages, locked(chosen, locks)
	}
	if len(chosen) == 0 && len(locks) == 0 {
		return packages, nil
	}
	return packages, plugin.WriteLocks(path, chosen)
}

// locked fails unless the lock file has what is needed.
func locked(chosen, locks map[addr.Provider]plugin.Locked) error {
	for p, l := range chosen {
		if locks[p].Version != l.Version {
			return &diag.Error{Category: diag.Configuration,
				Summary: fmt.Sprintf("%s has no %s %s, and may not be changed", plugin.LockFile, p, l.Version)}
		}
	}
	return nil
}

// needed lists the providers of a module and of those that it calls, with what each says of versions.
func needed(m *config.Module, wanted map[addr.Provider][]string) error {
	use := func(name string) error {
		p, err := plan.Source(m, name)
		if err != nil || p.IsBuiltIn() {
			return err
		}
		bare, _, _ := strings.Cut(name, ".")
		version := m.Required[bare].Version
		if _, ok := wanted[p]; !ok {
			wanted[p] = nil
		}
		if version != "" && !slices.Contains(wanted[p], version) {
			wanted[p] = append(wanted[p], version)
		}
		return nil
	}
	for name := range m.Required {
		if err := use(name); err != nil {
			return err
		}
	}
	for _, r := range m.Resources {
		if err := use(r.Provider); err != nil {
			return err
		}
	}
	for _, call := range m.Calls {
		if err := needed(call.Module, wanted); err != nil {
			return err
		}
	}
	return nil
}
