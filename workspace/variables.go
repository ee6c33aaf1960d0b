package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// SealedVariable is what values of variables are sealed as.
const SealedVariable seal.Kind = "variable"

// SealedAs is the name that a value is sealed under.
func (k Key) SealedAs(scope state.Name) string {
	return fmt.Sprintf("%s/%s//%s", k.Kind, k.Name, scope)
}

// Shown is a variable as people may see it: without the value if that is sensitive.
type Shown struct {
	Value
	UpdatedAt time.Time
	UpdatedBy Actor
	// Organization says that it is one of all workspaces.
	Organization bool
	// Hidden says that the workspace has one of its own, which counts.
	Hidden bool
}

// scoped authorizes what is about a workspace's variables, or about the organization's for the
// empty name: who may change only some workspaces may not change what all of them get.
func (s *Service) scoped(ctx context.Context, p auth.Principal, right auth.Right, name state.Name) (Ref, error) {
	if name != "" {
		return s.authorize(ctx, p, right, name)
	}
	if right == auth.WriteWorkspace {
		return Ref{Org: p.Org}, s.Gate.AuthorizeAll(ctx, p, right, "workspaces")
	}
	return Ref{Org: p.Org}, s.Gate.Authorize(ctx, p, right)
}

// Variables returns the variables of a workspace, its own and the organization's; for the empty
// name the organization's. It returns no value that is sensitive.
func (s *Service) Variables(ctx context.Context, p auth.Principal, name state.Name) ([]Shown, int64, error) {
	ref, err := s.scoped(ctx, p, auth.ReadWorkspace, name)
	if err != nil {
		return nil, 0, err
	}
	found, err := s.Store.Variables(ctx, ref)
	if err != nil {
		return nil, 0, err
	}
	var all []Shown
	own := map[Key]bool{}
	for _, v := range found.Own {
		own[v.Key] = true
		shown, err := s.show(ctx, ref, v)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, shown)
	}
	for _, v := range found.Organizations {
		shown, err := s.show(ctx, Ref{Org: ref.Org}, v)
		if err != nil {
			return nil, 0, err
		}
		shown.Organization, shown.Hidden = true, own[v.Key]
		all = append(all, shown)
	}
	return all, found.Revision, nil
}

func (s *Service) show(ctx context.Context, scope Ref, v Variable) (Shown, error) {
	shown := Shown{Value: Value{Key: v.Key, HCL: v.HCL, Sensitive: v.Sensitive}, UpdatedAt: v.UpdatedAt,
		UpdatedBy: v.UpdatedBy}
	if v.Sensitive {
		return shown, nil
	}
	value, err := s.open(ctx, scope, v)
	shown.Value.Value = value
	return shown, err
}

func (s *Service) open(ctx context.Context, scope Ref, v Variable) (string, error) {
	plain, err := s.Seals.Open(ctx, scope.Org, SealedVariable, v.SealedAs(scope.Name), v.Sealed)
	return string(plain), err
}

// SetVariables changes variables of a workspace, or the organization's for the empty name: all
// of it or nothing. What is as it is already is not changed. Faults: VariableInvalid,
// VariableRefused, VariableHCL, VariablesFull, WorkspaceNotFound.
func (s *Service) SetVariables(ctx context.Context, p auth.Principal, name state.Name, set []Value, unset []Key) error {
	ref, err := s.scoped(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return err
	}
	sealed, err := s.sealAll(ctx, p, ref, set, unset)
	if err != nil {
		return err
	}
	_, err = s.update(ctx, ref, func(w *Workspace, own []Variable) (Change, error) {
		if w == nil && ref.Name != "" {
			return Change{}, errNotFound(ref.Name)
		}
		gone := present(own, unset)
		if len(sealed) == 0 && len(gone) == 0 {
			return Change{}, nil
		}
		if err := s.checkRoom(own, sealed, gone); err != nil {
			return Change{}, err
		}
		return Change{
			Set: sealed, Unset: gone, Touched: &Touched{ActorOf(p), s.clock()},
			Event: s.event(p, ref, ActionVariables, noteOf(ref, sealed, gone)),
		}, nil
	})
	return err
}

// present are those of the keys that there are variables of.
func present(own []Variable, keys []Key) (found []Key) {
	for _, v := range own {
		if slices.Contains(keys, v.Key) {
			found = append(found, v.Key)
		}
	}
	return found
}

// sealAll checks the values, and seals those that differ from what there is.
func (s *Service) sealAll(ctx context.Context, p auth.Principal, ref Ref, set []Value,
	unset []Key) ([]Variable, error) {
	seen := map[Key]bool{}
	for _, k := range unset {
		seen[k] = true
	}
	for _, v := range set {
		if err := v.Check(s.Limits); err != nil {
			return nil, err
		}
		if seen[v.Key] {
			return nil, fault.New(fault.VariableInvalid, "%s comes twice", v.Name)
		}
		seen[v.Key] = true
	}
	there, err := s.Store.Variables(ctx, ref)
	if err != nil {
		return nil, err
	}
	have := map[Key]Variable{}
	for _, v := range ownOf(ref, there) {
		have[v.Key] = v
	}
	var sealed []Variable
	for _, v := range set {
		same, err := s.isSame(ctx, ref, have, v)
		if err != nil {
			return nil, err
		}
		if same {
			continue
		}
		bytes, err := s.Seals.Seal(ctx, ref.Org, SealedVariable, v.SealedAs(ref.Name), []byte(v.Value))
		if err != nil {
			return nil, err
		}
		sealed = append(sealed, Variable{Key: v.Key, HCL: v.HCL, Sensitive: v.Sensitive, Size: len(v.Value), Sealed: bytes,
			UpdatedAt: s.clock(), UpdatedBy: ActorOf(p)})
	}
	return sealed, nil
}

// ownOf are the variables of the scope itself.
func ownOf(ref Ref, all Variables) []Variable {
	if ref.Name == "" {
		return all.Organizations
	}
	return all.Own
}

func (s *Service) isSame(ctx context.Context, ref Ref, have map[Key]Variable, v Value) (bool, error) {
	was, there := have[v.Key]
	if !there || was.HCL != v.HCL || was.Sensitive != v.Sensitive || was.Size != len(v.Value) {
		return false, nil
	}
	value, err := s.open(ctx, ref, was)
	if fault.Is(err, fault.SealCorrupt) || fault.Is(err, fault.SealKeyMissing) {
		return false, nil // a value that is lost can be set anew
	}
	return value == v.Value, err
}

// checkRoom refuses more variables than there may be.
func (s *Service) checkRoom(own, set []Variable, unset []Key) error {
	sizes := map[Key]Variable{}
	for _, v := range slices.Concat(own, set) {
		sizes[v.Key] = v
	}
	for _, k := range unset {
		delete(sizes, k)
	}
	var bytes, secret int64
	for v := range maps.Values(sizes) {
		bytes += int64(v.Size)
		if v.Sensitive {
			secret += int64(v.Size)
		}
	}
	if len(sizes) > s.Limits.Variables {
		return fault.New(fault.VariablesFull, "there would be %d variables; at most %d are allowed", len(sizes),
			s.Limits.Variables)
	}
	if bytes > s.Limits.VariableBytes {
		return fault.New(fault.VariablesFull, "the values would have %d bytes together; at most %d are allowed", bytes,
			s.Limits.VariableBytes)
	}
	if secret > s.Limits.SecretBytes {
		return fault.New(fault.VariablesFull, "the sensitive values would have %d bytes together; at most %d are allowed",
			secret, s.Limits.SecretBytes)
	}
	return nil
}

// maxNote is how many bytes of names the audit log gets.
const maxNote = 500

// noteOf says which variables were changed, never to what.
func noteOf(ref Ref, set []Variable, unset []Key) string {
	var names []string
	for _, v := range set {
		names = append(names, "+"+v.Name)
	}
	for _, k := range unset {
		names = append(names, "-"+k.Name)
	}
	text := strings.Join(names, " ")
	if ref.Name == "" {
		text = "of the organization: " + text
	}
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + "…"
	}
	return text
}

// Inputs are what a run gets of variables: secrets.
type Inputs struct {
	Revision  int64
	Variables []Value
	// Digest is equal for equal variables of an organization, and tells nothing about them.
	Digest [32]byte
	// Newest is the variable that was changed last, of those that are there.
	Newest Variable
}

// Inputs returns the variables of a workspace with their values; those of its own win over the
// organization's. It is for the server itself, which has asked the gate before. Faults:
// WorkspaceNotFound.
func (s *Service) Inputs(ctx context.Context, org uuid.UUID, name state.Name) (Inputs, error) {
	ref := Ref{Org: org, Name: name}
	found, err := s.Store.Variables(ctx, ref)
	if err != nil {
		return Inputs{}, err
	}
	scopes := map[Key]Ref{}
	all := map[Key]Variable{}
	for _, v := range found.Organizations {
		all[v.Key], scopes[v.Key] = v, Ref{Org: org}
	}
	for _, v := range found.Own {
		all[v.Key], scopes[v.Key] = v, ref
	}
	merged := slices.Collect(maps.Values(all))
	sortVariables(merged)
	in := Inputs{Revision: found.Revision, Newest: newest(merged)}
	var parts [][]byte
	for _, v := range merged {
		value, err := s.open(ctx, scopes[v.Key], v)
		if err != nil {
			return Inputs{}, err
		}
		in.Variables = append(in.Variables, Value{v.Key, v.HCL, v.Sensitive, value})
		parts = append(parts, []byte(v.Kind), []byte(v.Name), fmt.Appendf(nil, "%t %t", v.HCL, v.Sensitive), []byte(value))
	}
	in.Digest, err = s.Seals.Sum(ctx, org, "inputs", parts...)
	return in, err
}

// newest is the variable that was changed last; the zero one where there are none.
func newest(all []Variable) (last Variable) {
	for _, v := range all {
		if v.UpdatedAt.After(last.UpdatedAt) {
			last = v
		}
	}
	return last
}

// Workspace is Get for the server itself, which has asked the gate before.
func (s *Service) Workspace(ctx context.Context, org uuid.UUID, name state.Name) (Workspace, error) {
	return s.Store.Workspace(ctx, Ref{Org: org, Name: name})
}
