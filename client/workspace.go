package client

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

// Workspaces lists workspaces by name.
func (c *Client) Workspaces() *List[api.Workspace] {
	return listByName(c, "workspaces", nil,
		func(p api.Workspaces) ([]api.Workspace, string) { return p.Workspaces, textOr(p.Next) })
}

// Workspace describes one.
func (c *Client) Workspace(ctx context.Context, name string) (api.Workspace, error) {
	return ask[api.Workspace](ctx, c, ofWorkspace(http.MethodGet, name))
}

// CreateWorkspace makes one. To make it again as it is changes nothing.
func (c *Client) CreateWorkspace(ctx context.Context, order api.WorkspaceChange) (api.Workspace, error) {
	return ask[api.Workspace](ctx, c, request{method: http.MethodPost, path: base + "workspaces"}.with(order))
}

// ChangeWorkspace changes its settings: those that the change names.
func (c *Client) ChangeWorkspace(ctx context.Context, name string, change api.WorkspaceChange) (api.Workspace, error) {
	return ask[api.Workspace](ctx, c, ofWorkspace(http.MethodPatch, name).with(change))
}

// DeleteWorkspace takes one away, with its variables and configurations; its state stays.
func (c *Client) DeleteWorkspace(ctx context.Context, name string) error {
	_, err := ask[api.Done](ctx, c, ofWorkspace(http.MethodDelete, name))
	return err
}

// ofVariables is the address of a workspace's variables; for the empty name the organization's.
func ofVariables(method, workspace string) request {
	if workspace == "" {
		return request{method: method, path: base + "variables"}
	}
	return ofWorkspace(method, workspace, "variables")
}

// Variables returns the variables of a workspace, its own and the organization's, without the
// values of sensitive ones; for the empty name the organization's.
func (c *Client) Variables(ctx context.Context, workspace string) (api.Variables, error) {
	return ask[api.Variables](ctx, c, ofVariables(http.MethodGet, workspace))
}

// ChangeVariables changes variables of a workspace, or of the organization for the empty name:
// all of them or none.
func (c *Client) ChangeVariables(ctx context.Context, workspace string, change api.VariablesChange) error {
	_, err := ask[api.Done](ctx, c, ofVariables(http.MethodPost, workspace).with(change))
	return err
}

// Snapshots lists the configurations that a workspace has had, the newest first: at most so many,
// all for 0.
func (c *Client) Snapshots(workspace string, limit int) *List[api.Snapshot] {
	return newList(c, ofWorkspace(http.MethodGet, workspace, "snapshots"), "cursor", limit,
		func(p api.Snapshots) ([]api.Snapshot, string) { return p.Snapshots, textOr(p.Next) })
}

// newest is how an address names the newest snapshot.
const newest = "newest"

// Snapshot returns a snapshot with its files, by its number or its ID; the newest for the empty
// text. Where there is none the code is snapshot_not_found.
func (c *Client) Snapshot(ctx context.Context, workspace, which string) (api.SnapshotFiles, error) {
	return ask[api.SnapshotFiles](ctx, c, ofWorkspace(http.MethodGet, workspace, "snapshots", orNewest(which)))
}

func orNewest(which string) string {
	if which == "" {
		return newest
	}
	return which
}

// MissingContents returns which of the contents, by their SHA-256, the server has not.
func (c *Client) MissingContents(ctx context.Context, workspace string, sha256 []string) ([]string, error) {
	said, err := ask[api.MissingContents](ctx, c,
		ofWorkspace(http.MethodPost, workspace, "checksums").with(api.Checksums{SHA256: sha256}))
	return said.Missing, err
}

// PutContent sends the content of a file, for a snapshot that is to be made.
func (c *Client) PutContent(ctx context.Context, workspace, sha256 string, content io.Reader) error {
	r := ofWorkspace(http.MethodPut, workspace, "contents", sha256)
	r.body = bodyOf(content)
	_, err := ask[api.Done](ctx, c, r)
	return err
}

// PushSnapshot makes a snapshot of contents that the server has, and the newest of the workspace.
func (c *Client) PushSnapshot(ctx context.Context, workspace string, order api.SnapshotOrder) (api.Snapshot, error) {
	return ask[api.Snapshot](ctx, c, ofWorkspace(http.MethodPost, workspace, "snapshots").with(order))
}

// PushArchive makes a snapshot of a tar.gz. Parent, unless it is nil, is the number of the
// snapshot that it builds on.
func (c *Client) PushArchive(ctx context.Context, workspace string, archive io.Reader, message string,
	parent *int64) (api.Snapshot, error) {
	r := ofWorkspace(http.MethodPost, workspace, "archive")
	r.query, r.body = map[string]string{"message": message, "parent": parentOf(parent)}, bodyOf(archive)
	return ask[api.Snapshot](ctx, c, r)
}

func parentOf(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// OpenArchive opens a snapshot's files as a tar archive. The caller closes it.
func (c *Client) OpenArchive(ctx context.Context, workspace, which string) (io.ReadCloser, error) {
	return c.open(ctx, ofWorkspace(http.MethodGet, workspace, "snapshots", orNewest(which), "archive"))
}

// OpenFile opens the exact bytes of a file of a snapshot. The caller closes it.
func (c *Client) OpenFile(ctx context.Context, workspace, which, path string) (*Content, error) {
	r := ofWorkspace(http.MethodGet, workspace, "files", path)
	r.query = map[string]string{"snapshot": which}
	return c.content(ctx, r)
}

// PutFile makes a snapshot of the newest one with another file of a path.
func (c *Client) PutFile(ctx context.Context, workspace, path string, executable bool, content io.Reader,
	parent *int64) (api.Snapshot, error) {
	r := ofWorkspace(http.MethodPut, workspace, "files", path)
	r.query = map[string]string{"executable": strconv.FormatBool(executable), "parent": parentOf(parent)}
	r.body = bodyOf(content)
	return ask[api.Snapshot](ctx, c, r)
}

// RemoveFile makes a snapshot of the newest one without a file.
func (c *Client) RemoveFile(ctx context.Context, workspace, path string, parent *int64) (api.Snapshot, error) {
	r := ofWorkspace(http.MethodDelete, workspace, "files", path)
	r.query = map[string]string{"parent": parentOf(parent)}
	return ask[api.Snapshot](ctx, c, r)
}

// FileEdit is what a change of a file builds on. The zero FileEdit builds on whatever there is.
type FileEdit struct {
	Parent *int64 // the number of the newest snapshot
	Base   string // the SHA-256 of the file's content
	New    bool   // there must be no such file
	Draft  bool   // more is to follow, which takes its place
}

func (r request) editing(e FileEdit) request {
	if r.query == nil {
		r.query = map[string]string{}
	}
	if r.header == nil {
		r.header = map[string]string{}
	}
	r.query["parent"], r.query["draft"] = parentOf(e.Parent), flag(e.Draft)
	if e.Base != "" {
		r.header["If-Match"] = `"` + e.Base + `"`
	}
	if e.New {
		r.header["If-None-Match"] = "*"
	}
	return r
}

// EditFile is PutFile of a file that is as the edit says; *Error with the code file_changed else.
func (c *Client) EditFile(ctx context.Context, workspace, path string, executable bool, content io.Reader,
	e FileEdit) (api.Snapshot, error) {
	r := ofWorkspace(http.MethodPut, workspace, "files", path).editing(e)
	r.query["executable"], r.body = strconv.FormatBool(executable), bodyOf(content)
	return ask[api.Snapshot](ctx, c, r)
}

// DropFile is RemoveFile of a file that is as the edit says.
func (c *Client) DropFile(ctx context.Context, workspace, path string, e FileEdit) (api.Snapshot, error) {
	return ask[api.Snapshot](ctx, c, ofWorkspace(http.MethodDelete, workspace, "files", path).editing(e))
}

// MoveFile makes a snapshot in which a file has another path.
func (c *Client) MoveFile(ctx context.Context, workspace, from, to string, e FileEdit) (api.Snapshot, error) {
	return ask[api.Snapshot](ctx, c,
		ofWorkspace(http.MethodPost, workspace, "move").with(api.FileMove{From: from, To: to}).editing(e))
}

// Format brings a text, in hcl or json, into its usual form.
func (c *Client) Format(ctx context.Context, language, text string) (string, error) {
	made, err := ask[api.Formatted](ctx, c,
		request{method: http.MethodPost, path: base + "format"}.with(api.FormatOrder{Language: language, Text: text}))
	return made.Text, err
}

// Checksums returns the SHA-256 of each file of a snapshot.
func (c *Client) Checksums(ctx context.Context, workspace, which string) (api.FileChecksums, error) {
	r := ofWorkspace(http.MethodGet, workspace, "checksums")
	r.query = map[string]string{"snapshot": which}
	return ask[api.FileChecksums](ctx, c, r)
}

// Pull returns files with their contents.
func (c *Client) Pull(ctx context.Context, workspace string, order api.PullOrder) (api.PulledFiles, error) {
	return ask[api.PulledFiles](ctx, c, ofWorkspace(http.MethodPost, workspace, "pull").with(order))
}

// SnapshotDiff says how a snapshot differs from another, by default from the one before it.
func (c *Client) SnapshotDiff(ctx context.Context, workspace, from, to string) (api.SnapshotDiff, error) {
	r := ofWorkspace(http.MethodGet, workspace, "snapshots", orNewest(to), "diff")
	r.query = map[string]string{"from": from}
	return ask[api.SnapshotDiff](ctx, c, r)
}

// OpenSnapshotDiff opens the same line by line. The caller closes it.
func (c *Client) OpenSnapshotDiff(ctx context.Context, workspace, from, to string) (io.ReadCloser, error) {
	r := ofWorkspace(http.MethodGet, workspace, "snapshots", orNewest(to), "diff")
	r.query = map[string]string{"from": from, "format": "text"}
	return c.open(ctx, r)
}
