package projects

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// MaxFiles is how many bytes of files one answer has.
const MaxFiles = 10 << 20

// Files returns a project's files with their contents; none where it has none yet. Fault: FilesTooLarge.
func (s *Service) Files(ctx context.Context, p auth.Principal, name state.Name) (api.ProjectFiles, error) {
	all := api.ProjectFiles{Files: []api.ProjectFile{}, Checksums: api.ProjectChecksums{}}
	of, snapshot, err := s.snapshot(ctx, p, name)
	if err != nil {
		return all, err
	}
	if err := fits(snapshot); err != nil {
		return all, err
	}
	for _, f := range snapshot.Files {
		file := of.file(f.Path)
		if file.Content, file.Base64, err = s.content(ctx, p, f); err != nil {
			return all, err
		}
		all.Files = append(all.Files, file)
		all.Checksums[f.Path] = f.Digest.String()
	}
	return all, nil
}

// Checksums returns the SHA-256 of each of a project's files.
func (s *Service) Checksums(ctx context.Context, p auth.Principal, name state.Name) (api.ProjectChecksums, error) {
	_, snapshot, err := s.snapshot(ctx, p, name)
	all := api.ProjectChecksums{}
	for _, f := range snapshot.Files {
		all[f.Path] = f.Digest.String()
	}
	return all, err
}

// Pull returns a project's files as they are written into a folder. Fault: FilesTooLarge.
func (s *Service) Pull(ctx context.Context, p auth.Principal, name state.Name) (api.ProjectPull, error) {
	found, err := s.Files(ctx, p, name)
	all := api.ProjectPull{Files: []api.ProjectPulled{}}
	for _, f := range found.Files {
		all.Files = append(all.Files, api.ProjectPulled{Name: f.Name, Content: f.Content, Base64: f.Base64})
	}
	return all, err
}

// Put creates or replaces a file. Faults: those of workspace.Service.PutFileIf.
func (s *Service) Put(ctx context.Context, p auth.Principal, name state.Name,
	o api.ProjectFileOrder) (api.ProjectFileDone, error) {
	made, f, err := s.Workspaces.PutFileIf(ctx, p, name, workspace.File{Path: o.Name}, strings.NewReader(o.Content),
		workspace.Edit{KeepMode: true})
	if err != nil {
		return api.ProjectFileDone{}, err
	}
	of, err := s.find(ctx, p, auth.WriteWorkspace, name)
	of.Newest = made
	file := of.file(f.Path)
	file.Content = o.Content
	return api.ProjectFileDone{File: file, Checksum: api.ProjectChecksums{f.Path: f.Digest.String()}}, err
}

// Remove takes a file away. Fault: FileNotFound.
func (s *Service) Remove(ctx context.Context, p auth.Principal, name state.Name,
	path string) (api.ProjectFileDone, error) {
	if err := workspace.CheckPath(path); err != nil {
		return api.ProjectFileDone{}, err
	}
	made, err := s.Workspaces.RemoveFile(ctx, p, name, path, nil)
	if err != nil {
		return api.ProjectFileDone{}, err
	}
	of, err := s.find(ctx, p, auth.WriteWorkspace, name)
	of.Newest = made
	return api.ProjectFileDone{File: of.file(path), Checksum: api.ProjectChecksums{}}, err
}

// snapshot returns a project with its newest files; none where it has no configuration yet.
func (s *Service) snapshot(ctx context.Context, p auth.Principal,
	name state.Name) (of project, files workspace.Snapshot, err error) {
	if of, err = s.find(ctx, p, auth.ReadWorkspace, name); err != nil || of.Newest.Number == 0 {
		return of, files, err
	}
	files, err = s.Workspaces.Snapshot(ctx, p.Org, of.Newest)
	return of, files, err
}

// file describes one of the project's files.
func (p project) file(path string) api.ProjectFile {
	return api.ProjectFile{
		ID: uuid.NewSHA1(p.ID(), []byte("file/"+path)).String(), ProjectID: p.id(), Name: path,
		CreatedAt: p.CreatedAt, UpdatedAt: p.Newest.CreatedAt,
	}
}

func fits(snapshot workspace.Snapshot) error {
	total := int64(0)
	for _, f := range snapshot.Files {
		if total += f.Size; total > MaxFiles {
			return fault.New(fault.FilesTooLarge,
				"the project's files have more than %d bytes together: use the archive of its workspace", MaxFiles)
		}
	}
	return nil
}

// content returns a file's text or, if it is none, its bytes in base64.
func (s *Service) content(ctx context.Context, p auth.Principal, f workspace.File) (text, inBase64 string, err error) {
	content, err := s.Workspaces.Content(ctx, p.Org, f)
	if err != nil {
		return "", "", err
	}
	raw, err := io.ReadAll(content)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("read a file of a project: %w", err)
	case utf8.Valid(raw):
		return string(raw), "", nil
	}
	return "", base64.StdEncoding.EncodeToString(raw), nil
}
