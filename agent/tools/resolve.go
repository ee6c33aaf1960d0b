package tools

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// Want is what a run asks for.
type Want struct {
	Tool       Name
	Constraint string // of the workspace, as required_version has it; empty for none
	Files      fs.FS  // the configuration, nil for none; links in it are not followed
	Directory  string // of the root module in Files; empty or "." is the top
}

// Resolved is a tool that may be run, and how it was chosen.
type Resolved struct {
	Tool  Tool   `json:"tool"`
	Rules []Rule `json:"rules"`
}

// Resolve returns the newest version that everything that limits it allows: the workspace's
// constraint, the version file (.opentofu-version, .terraform-version, .terragrunt-version) of
// the directory or the nearest one above it, and the required_version of the root module. A
// version that is installed is preferred to a newer one that would have to be downloaded.
//
// ToolUnavailable says which rule excludes what, and what is installed.
func (s *Store) Resolve(ctx context.Context, want Want) (Resolved, error) {
	rules, err := want.rules()
	if err != nil {
		return Resolved{}, err
	}
	tools, err := s.installed(ctx, want.Tool)
	if err != nil {
		return Resolved{}, err
	}
	rules = releasesOnly(rules)
	if v, found := choose(versionsOf(tools), rules); found {
		tool, err := s.Open(ctx, want.Tool, v.String())
		return Resolved{tool, rules}, err
	}
	if !s.downloads(want.Tool) {
		return Resolved{}, s.misfit(ctx, want.Tool, rules)
	}
	return s.resolveRemote(ctx, want.Tool, rules)
}

// Offers returns nil unless it is clear before anything of a configuration is known that Resolve
// will find no version that fits the constraint. It downloads nothing, and asks no mirror what it has.
func (s *Store) Offers(ctx context.Context, name Name, constraint string) error {
	rules, err := Want{Tool: name, Constraint: constraint}.rules()
	if err != nil || s.downloads(name) {
		return err
	}
	tools, err := s.installed(ctx, name)
	if err != nil {
		return err
	}
	if _, found := choose(versionsOf(tools), rules); found {
		return nil // a prerelease, too, which the configuration may name
	}
	return s.misfit(ctx, name, rules)
}

// downloads reports whether versions of the tool are downloaded when they are wanted.
func (s *Store) downloads(name Name) bool { return s.settings.AllowDownload && name != Terragrunt }

func (s *Store) misfit(ctx context.Context, name Name, rules []Rule) error {
	return s.unavailable(ctx, name, "no version of %s that is installed fits: %s", name, explain(rules))
}

// resolveRemote looks at what the mirror has, and downloads it.
func (s *Store) resolveRemote(ctx context.Context, name Name, rules []Rule) (Resolved, error) {
	offered, err := s.Available(ctx, name)
	if err != nil {
		return Resolved{}, err
	}
	for i := range rules {
		rules[i].Excluded = nil
	}
	v, found := choose(offered, rules)
	if !found {
		return Resolved{}, s.unavailable(ctx, name, "no version of %s that its mirror offers fits: %s", name, explain(rules))
	}
	tool, err := s.Download(ctx, name, v.String())
	return Resolved{tool, rules}, err
}

func versionsOf(tools []Tool) (all []*version.Version) {
	for _, tool := range tools {
		if v, err := parseVersion(tool.Version); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// unavailable is the fault of a version that is not there; it lists those that are.
func (s *Store) unavailable(ctx context.Context, name Name, format string, args ...any) error {
	there, _, err := s.Versions(ctx, name)
	if err != nil {
		return err
	}
	return fault.New(fault.ToolUnavailable, format+"; installed: %s",
		append(slices.Clone(args), cmp.Or(listed(there), "none"))...)
}
