package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/provider"
)

// Package is a provider's program in a mirror.
type Package struct {
	Provider addr.Provider
	Version  string
	Folder   string // HOST/NAMESPACE/NAME/VERSION/OS_ARCH
}

// Available lists the versions of a provider that mirrors have, the newest first.
func Available(mirrors []string, p addr.Provider) ([]Package, error) {
	type candidate struct {
		Package
		version *version.Version
	}
	var found []candidate
	platform := runtime.GOOS + "_" + runtime.GOARCH
	for _, mirror := range mirrors {
		base := filepath.Join(mirror, p.Host, p.Namespace, p.Name)
		entries, err := os.ReadDir(base)
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("the mirror %s can't be read: %w", mirror, err)
		}
		for _, e := range entries {
			v, err := version.NewSemver(e.Name())
			folder := filepath.Join(base, e.Name(), platform)
			if err != nil || program(folder, p) == "" {
				continue
			}
			found = append(found, candidate{Package{p, e.Name(), folder}, v})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.version.Compare(a.version) })
	packages := make([]Package, len(found))
	for i, c := range found {
		packages[i] = c.Package
	}
	return packages, nil
}

// Choose picks the newest version that all constraints allow.
func Choose(mirrors []string, p addr.Provider, constraints []string) (Package, error) {
	all, err := Available(mirrors, p)
	if err != nil {
		return Package{}, err
	}
	var wanted version.Constraints
	for _, text := range constraints {
		c, err := version.NewConstraint(text)
		if err != nil {
			return Package{}, &diag.Error{Category: diag.Configuration,
				Summary: fmt.Sprintf("%q says nothing about versions of %s", text, p), Err: err}
		}
		wanted = append(wanted, c...)
	}
	var seen []string
	for _, candidate := range all {
		v, err := version.NewSemver(candidate.Version)
		if err == nil && wanted.Check(v) && (v.Prerelease() == "" || len(constraints) > 0) {
			return candidate, nil
		}
		seen = append(seen, candidate.Version)
	}
	e := &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the provider %s isn't in any mirror", p),
		Detail: "looked in " + strings.Join(mirrors, ", "),
		Hint:   "a mirror has HOST/NAMESPACE/NAME/VERSION/OS_ARCH/terraform-provider-NAME; name it with --plugin-dir"}
	if len(seen) > 0 {
		e.Summary = fmt.Sprintf("no version of the provider %s is allowed by %s", p, strings.Join(constraints, ", "))
		e.Detail = "there are " + strings.Join(seen, ", ")
	}
	return Package{}, e
}

// Factory starts the program of a package.
func (p Package) Factory() provider.Factory {
	return func(ctx context.Context) (provider.Provider, error) {
		path := program(p.Folder, p.Provider)
		if path == "" {
			return nil, &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the program of %s is gone from %s",
				p.Provider, p.Folder)}
		}
		return Start(ctx, path)
	}
}

func program(folder string, p addr.Provider) string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	name := "terraform-provider-" + p.Name
	for _, e := range entries {
		if e.Name() == name || strings.HasPrefix(e.Name(), name+"_") {
			return filepath.Join(folder, e.Name())
		}
	}
	return ""
}
