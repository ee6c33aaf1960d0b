package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/enclave"
)

// Remote is the server that a client calls.
type Remote struct{ Client *client.Client }

var _ Server = Remote{}

// Workspaces implements Server.
func (s Remote) Workspaces(ctx context.Context) (all []api.Workspace, err error) {
	for w, err := range s.Client.Workspaces().All(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// Workspace implements Server.
func (s Remote) Workspace(ctx context.Context, name string) (*api.Workspace, error) {
	w, err := s.Client.Workspace(ctx, name)
	if client.IsCode(err, "workspace_not_found") {
		return nil, nil
	}
	return &w, err
}

// Configure implements Server.
func (s Remote) Configure(ctx context.Context, name string, exists bool, change api.WorkspaceChange) error {
	if exists {
		_, err := s.Client.ChangeWorkspace(ctx, name, change)
		return err
	}
	_, err := s.Client.CreateWorkspace(ctx, change)
	return err
}

// RemoveWorkspace implements Server.
func (s Remote) RemoveWorkspace(ctx context.Context, name string) error {
	err := s.Client.DeleteWorkspace(ctx, name)
	if client.IsCode(err, "workspace_not_found") {
		return nil
	}
	return err
}

// Variables implements Server.
func (s Remote) Variables(ctx context.Context, name string) (own []api.Variable, err error) {
	all, err := s.Client.Variables(ctx, name)
	for _, v := range all.Variables {
		if v.Scope == "workspace" {
			own = append(own, v)
		}
	}
	return own, err
}

// ChangeVariables implements Server.
func (s Remote) ChangeVariables(ctx context.Context, name string, change api.VariablesChange) error {
	return s.Client.ChangeVariables(ctx, name, change)
}

// Snapshot implements Server.
func (s Remote) Snapshot(ctx context.Context, name string) (api.SnapshotFiles, error) {
	files, err := s.Client.Snapshot(ctx, name, "")
	if client.IsCode(err, "snapshot_not_found") {
		return api.SnapshotFiles{}, nil
	}
	return files, err
}

// Push implements Server.
func (s Remote) Push(ctx context.Context, name string, files []File, parent int64,
	message string) (api.Snapshot, error) {
	by, sums := map[string]File{}, []string{}
	order := api.SnapshotOrder{Files: []api.SnapshotFile{}, Message: message, Parent: &parent}
	for _, f := range files {
		order.Files = append(order.Files, f.SnapshotFile)
		if _, twice := by[f.SHA256]; !twice {
			by[f.SHA256], sums = f, append(sums, f.SHA256)
		}
	}
	missing, err := s.Client.MissingContents(ctx, name, sums)
	if err != nil {
		return api.Snapshot{}, err
	}
	for _, sum := range missing {
		if err := s.put(ctx, name, by[sum]); err != nil {
			return api.Snapshot{}, err
		}
	}
	return s.Client.PushSnapshot(ctx, name, order)
}

func (s Remote) put(ctx context.Context, name string, f File) error {
	if f.Source == "" {
		return s.Client.PutContent(ctx, name, f.SHA256, bytes.NewReader(f.Text))
	}
	from, err := os.Open(f.Source)
	if err != nil {
		return err
	}
	defer from.Close()
	err = s.Client.PutContent(ctx, name, f.SHA256, from)
	if client.IsCode(err, "digest_mismatch") {
		return fmt.Errorf("%s was changed while it was sent: do the same again", f.Source)
	}
	return err
}

// File implements Server.
func (s Remote) File(ctx context.Context, name, path string, limit int64) ([]byte, error) {
	content, err := s.Client.OpenFile(ctx, name, "", path)
	if client.IsCode(err, "file_not_found", "snapshot_not_found", "workspace_not_found") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s of %s is larger than %d bytes", path, name, limit)
	}
	return text, err
}

// Runs implements Server.
func (s Remote) Runs(ctx context.Context, name string, limit int) (all []api.Run, err error) {
	for run, err := range s.Client.Runs(client.RunsQuery{Workspace: name, Limit: limit}).All(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, run)
	}
	return all, nil
}

// Order implements Server.
func (s Remote) Order(ctx context.Context, order api.RunOrder, key string) (api.Run, error) {
	return s.Client.CreateRun(ctx, order, key)
}

// Discard implements Server.
func (s Remote) Discard(ctx context.Context, id, reason string) error {
	_, err := s.Client.DiscardRun(ctx, id, reason)
	return err
}

// Await implements Server.
func (s Remote) Await(ctx context.Context, id string, wait bool, tell func([]byte)) (api.Run, error) {
	for _, stage := range []string{"plan", "apply"} {
		lines := &lineWriter{tell: tell}
		err := s.Client.FollowRun(ctx, id, stage, func(u client.RunUpdate) error {
			if u.Log != nil {
				lines.write(u.Log.Bytes)
			}
			return nil
		})
		lines.flush()
		if err != nil {
			return api.Run{}, fmt.Errorf("run %s goes on, but can't be followed: %w", id, err)
		}
		run, err := s.Client.Run(ctx, id)
		if err != nil || ended(run.Status) || run.Status == awaiting && !wait {
			return run, err
		}
	}
	return s.Client.Run(ctx, id)
}

// lineWriter cuts a log into lines.
type lineWriter struct {
	tell func([]byte)
	rest []byte
}

// maxLine is the longest line that is kept whole.
const maxLine = 64 << 10

func (w *lineWriter) write(b []byte) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found && len(w.rest) < maxLine {
			return
		}
		if !found {
			line, rest = w.rest, nil
		}
		w.tell(bytes.TrimSuffix(line, []byte("\r")))
		w.rest = bytes.Clone(rest)
	}
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.tell(w.rest)
		w.rest = nil
	}
}

// Outputs implements Server.
func (s Remote) Outputs(ctx context.Context, name string, sensitive bool) (map[string]enclave.Output, uint64, error) {
	found, err := s.Client.FindState(ctx, name)
	if client.IsCode(err, "state_not_found", "state_deleted") {
		return nil, 0, nil
	}
	if err != nil || found == nil || found.Version == nil || found.DeletedAt != nil {
		return nil, 0, err
	}
	said, err := s.Client.Outputs(ctx, name, sensitive)
	if err != nil {
		return nil, 0, err
	}
	all := map[string]enclave.Output{}
	for key, out := range said.Outputs {
		all[key] = enclave.Output{Value: out.Value, Sensitive: out.Sensitive}
	}
	return all, found.Version.Number, nil
}

// DeleteState implements Server.
func (s Remote) DeleteState(ctx context.Context, name string) error {
	err := s.Client.Delete(ctx, name, client.Condition{})
	if client.IsCode(err, "state_not_found", "state_deleted") {
		return nil
	}
	if held, ok := errors.AsType[*client.Error](err); ok && held.Lock != nil {
		return fmt.Errorf("somebody has its lock: %w", err)
	}
	return err
}
