package gitmirror

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// refs returns what all of the mirror's refs point to.
func (m *Mirror) refs(ctx context.Context) (map[string]string, error) {
	out, err := m.output(ctx, "for-each-ref", "--count="+itoa(m.o.Limits.Refs+1), "--format=%(refname) %(objectname)")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(out) {
		name, hash, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && IsCommit(hash) {
			all[name] = hash
		}
	}
	if len(all) > m.o.Limits.Refs {
		return nil, newError(TooLarge, "more than %d branches would be fetched, which is the limit", m.o.Limits.Refs)
	}
	return all, nil
}

func moved(before, after map[string]string) (all []Moved) {
	for ref, to := range after {
		if from := before[ref]; from != to {
			all = append(all, Moved{ref, from, to})
		}
	}
	for ref, from := range before {
		if _, there := after[ref]; !there {
			all = append(all, Moved{ref, from, ""})
		}
	}
	slices.SortFunc(all, func(a, b Moved) int { return cmp.Compare(a.Ref, b.Ref) })
	return all
}

// Branches returns the branches that were fetched, with their newest commits.
func (m *Mirror) Branches(ctx context.Context) (map[string]string, error) {
	all, err := m.refsNow(ctx)
	if err != nil {
		return nil, err
	}
	branches := map[string]string{}
	for ref, commit := range all {
		if name, ok := strings.CutPrefix(ref, heads); ok {
			branches[name] = commit
		}
	}
	return branches, nil
}

// refsNow is refs of a mirror that may not be there.
func (m *Mirror) refsNow(ctx context.Context) (map[string]string, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	ctx, cancel := m.reading(ctx)
	defer cancel()
	return m.refs(ctx)
}

// Head returns the newest commit of a branch, as it was when it was fetched. Kind: NotThere.
func (m *Mirror) Head(ctx context.Context, branch string) (string, error) {
	if err := CheckBranch(branch); err != nil {
		return "", err
	}
	return m.Ref(ctx, heads+branch)
}

// Ref returns what a ref that was fetched points to, by its whole name. Kind: NotThere.
func (m *Mirror) Ref(ctx context.Context, ref string) (string, error) {
	if err := m.usable(); err != nil {
		return "", err
	}
	if !strings.HasPrefix(ref, "refs/") || CheckBranch(ref) != nil {
		return "", newError(AddressInvalid, "%.100q is not the whole name of a ref", ref)
	}
	ctx, cancel := m.reading(ctx)
	defer cancel()
	out, err := m.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil && out == "" && KindOf(err) == Failed {
		return "", newError(NotThere, "%.100q is not among what was fetched", strings.TrimPrefix(ref, heads))
	}
	return out, err
}

// Has says whether a commit is in the mirror.
func (m *Mirror) Has(ctx context.Context, commit string) (bool, error) {
	if err := cmp.Or(m.usable(), checkCommits(commit)); err != nil {
		return false, err
	}
	ctx, cancel := m.reading(ctx)
	defer cancel()
	_, err := m.output(ctx, "cat-file", "-e", commit+"^{commit}")
	if KindOf(err) == Failed {
		return false, nil
	}
	return err == nil, err
}

// OnBranch says whether a commit is in the history of a branch that was fetched.
func (m *Mirror) OnBranch(ctx context.Context, commit string) (bool, error) {
	if err := cmp.Or(m.usable(), checkCommits(commit)); err != nil {
		return false, err
	}
	ctx, cancel := m.reading(ctx)
	defer cancel()
	out, err := m.output(ctx, "for-each-ref", "--count=1", "--contains="+commit, "--format=%(refname)", heads)
	return out != "", err
}

// IsAncestor says whether a commit is in the history of another one, or is it. Kind: NotThere.
func (m *Mirror) IsAncestor(ctx context.Context, ancestor, of string) (bool, error) {
	base, err := m.MergeBase(ctx, ancestor, of)
	return base == ancestor, err
}

// MergeBase returns the best common ancestor of two commits; empty where they have none. Kind: NotThere.
func (m *Mirror) MergeBase(ctx context.Context, a, b string) (string, error) {
	for _, c := range []string{a, b} {
		if there, err := m.Has(ctx, c); err != nil || !there {
			return "", cmp.Or(err, errNoCommit(c))
		}
	}
	ctx, cancel := m.reading(ctx)
	defer cancel()
	out, err := m.output(ctx, "merge-base", a, b)
	if KindOf(err) == Failed && out == "" {
		return "", nil
	}
	first, _, _ := strings.Cut(out, "\n")
	return first, err
}

func errNoCommit(commit string) error {
	return newError(NotThere, "the commit %s is not among what was fetched", commit)
}

// usable says that there is something to read.
func (m *Mirror) usable() error {
	if !exists(m.gitDir()) || !exists(m.home()) {
		return newError(NotThere, "the repository was not fetched yet")
	}
	return nil
}

// reading bounds how long a command that reads may take.
func (m *Mirror) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, m.o.Limits.Read)
}
