package sqlworkspace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/workspace"
)

// variable is one of a name and a content.
func variable(name string, n int) workspace.Variable {
	return workspace.Variable{
		Key: workspace.Key{Kind: workspace.TerraformVariable, Name: name}, HCL: n%2 == 0, Sensitive: n%3 == 0,
		Size: n, Sealed: fmt.Append(nil, "sealed\x00\xff", n), UpdatedAt: at(n), UpdatedBy: by(name),
	}
}

func (s workspaces) set(r workspace.Ref, all ...workspace.Variable) {
	s.t.Helper()
	s.touch(r, workspace.Change{Set: all})
}

func (s workspaces) unset(r workspace.Ref, keys ...workspace.Key) {
	s.t.Helper()
	s.touch(r, workspace.Change{Unset: keys})
}

func (s workspaces) touch(r workspace.Ref, c workspace.Change) {
	s.t.Helper()
	c.Touched = &workspace.Touched{By: by("setter"), At: at(9)}
	_, err := s.Update(s.t.Context(), r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
		return c, nil
	})
	s.must(err)
}

func (s workspaces) variables(r workspace.Ref) workspace.Variables {
	s.t.Helper()
	all, err := s.Variables(s.t.Context(), r)
	s.must(err)
	return all
}

func TestVariables(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		org := uuid.New()
		r := ref(org, "a")
		s.put(r)
		environment := variable("b", 5)
		environment.Kind = workspace.EnvironmentVariable
		s.set(r, variable("b", 6), variable("a", 1), environment, variable("gone", 4))
		s.set(ref(org, ""), variable("a", 7))
		s.set(r, variable("a", 2))
		s.unset(r, variable("gone", 4).Key, variable("never", 4).Key)
		own, shared := []workspace.Variable{environment, variable("a", 2), variable("b", 6)},
			[]workspace.Variable{variable("a", 7)}
		got := s.variables(r)
		want(t, "own", got.Own, own)
		want(t, "the organization's", got.Organizations, shared)
		_, err := s.Update(t.Context(), r, func(_ *workspace.Workspace,
			given []workspace.Variable) (workspace.Change, error) {
			want(t, "given to a decision", given, own)
			return workspace.Change{}, nil
		})
		s.must(err)
		got = s.variables(ref(org, ""))
		want(t, "the organization's alone", got.Organizations, shared)
		want(t, "own of the empty name", len(got.Own), 0)
		_, err = s.Variables(t.Context(), ref(org, "absent"))
		suite.Fault(t, "of no workspace", err, fault.WorkspaceNotFound)
	})
}

// A workspace's revision counts the changes of its own variables and of the organization's.
func TestRevisions(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		org := uuid.New()
		r, other, shared := ref(org, "a"), ref(org, "b"), ref(org, "")
		s.put(r)
		s.put(other)
		a, b := s.get(r), s.get(other)
		for i, step := range []struct {
			do   func()
			both bool
		}{
			{func() { s.set(r, variable("x", 1), variable("y", 2)) }, false},
			{func() { s.set(r, variable("x", 3)) }, false},
			{func() { s.set(shared, variable("x", 3)) }, true},
			{func() { s.unset(r, variable("x", 3).Key) }, false},
			{func() { s.unset(shared, variable("x", 3).Key) }, true},
		} {
			step.do()
			nextA, nextB, with := s.get(r), s.get(other), s.variables(r).Revision
			if nextA.Revision <= a.Revision || (nextB.Revision > b.Revision) != step.both || with != nextA.Revision {
				t.Errorf("step %d: revisions %d and %d after %d and %d, and %d with the variables", i, nextA.Revision,
					nextB.Revision, a.Revision, b.Revision, with)
			}
			if !step.both && (nextA.UpdatedBy != by("setter") || !nextA.UpdatedAt.Equal(at(9))) {
				t.Errorf("step %d: it was changed by %v at %v", i, nextA.UpdatedBy, nextA.UpdatedAt)
			}
			a, b = nextA, nextB
		}
	})
}

// A database may find these names equal.
func TestNamesByByte(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		org := uuid.New()
		r, other := ref(org, "a"), ref(org, "A")
		s.put(r)
		s.put(other)
		names := []string{"straße", "strasse", "STRASSE", "é", "e", "É", strings.Repeat("x", 255)}
		for i, name := range names {
			s.set(r, variable(name, i))
		}
		want(t, "variables", len(s.variables(r).Own), len(names))
		want(t, "of another", len(s.variables(other).Own), 0)
	})
}
