package handlers

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// fileRowBytes is what a file takes in a list, twice.
const fileRowBytes = 3 << 10

// maxPulledBytes is how much text one pull returns.
const maxPulledBytes = 10 << 20

func jsonNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	return n, err
}

// snapshots lists the configurations that a workspace has had.
func (w workspaces) snapshots(ctx context.Context, r *request, name state.Name) (answer, error) {
	var before int64
	r.cursor(func(text string) bool {
		n, err := jsonNumber(text)
		before = n
		return err == nil && n > 0
	})
	limit := r.limit()
	return w.lists.answer(ctx, r, rowsBytes(limit), func() (listing, error) {
		page, next, err := w.service.Entries(ctx, r.caller, name, before, limit)
		cursor := ""
		if next > 0 {
			cursor = strconv.FormatInt(next, 10)
		}
		return listOf(api.Snapshots{Snapshots: []api.Snapshot{}, Next: orNull(cursor)}, "snapshots", page, rowBytes/2,
			snapshotOf), err
	})
}

// which reads the snapshot that a path names; empty for the newest.
func (r *request) which() string {
	if text := r.inPath("snapshot"); text != "newest" {
		return text
	}
	return ""
}

// snapshot describes one with its files.
func (w workspaces) snapshot(ctx context.Context, r *request, name state.Name) (answer, error) {
	return w.withFiles(ctx, r, name, r.which())
}

// files is the newest snapshot with its files, or another one.
func (w workspaces) files(ctx context.Context, r *request, name state.Name) (answer, error) {
	return w.withFiles(ctx, r, name, r.filled("snapshot"))
}

func (w workspaces) withFiles(ctx context.Context, r *request, name state.Name, which string) (answer, error) {
	return w.listed(ctx, r, name, which, func(entry workspace.Entry, found workspace.Snapshot) listing {
		said := api.SnapshotFiles{Snapshot: snapshotOf(entry), Files: []api.SnapshotFile{}}
		return listOf(said, "files", found.Files, fileRowBytes, fileOf)
	})
}

// listed makes an answer of a snapshot's files.
func (w workspaces) listed(ctx context.Context, r *request, name state.Name, which string,
	list func(workspace.Entry, workspace.Snapshot) listing) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	entry, err := w.service.Entry(ctx, r.caller, name, which)
	if err != nil {
		return nil, err
	}
	return w.lists.answer(ctx, r, maxOrderBytes+int64(entry.Files)*fileRowBytes, func() (listing, error) {
		found, err := w.service.Snapshot(ctx, r.caller.Org, entry)
		return list(entry, found), err
	})
}

// checksums has the SHA-256 of each file.
func (w workspaces) checksums(ctx context.Context, r *request, name state.Name) (answer, error) {
	return w.listed(ctx, r, name, r.filled("snapshot"), func(entry workspace.Entry, found workspace.Snapshot) listing {
		said := api.FileChecksums{Snapshot: entry.ID.String(), Checksums: map[string]string{}}
		for _, f := range found.Files {
			said.Checksums[f.Path] = f.Digest.String()
		}
		return listing{answer: said, takes: int64(len(found.Files)) * fileRowBytes}
	})
}

// file sends a file's exact bytes.
func (w workspaces) file(ctx context.Context, r *request, name state.Name) (answer, error) {
	which, path := r.filled("snapshot"), r.filePath()
	if err := r.err(); err != nil {
		return nil, err
	}
	f, content, err := w.service.OpenFile(ctx, r.caller, name, which, path)
	if err != nil {
		return nil, err
	}
	return inPieces(r, w.lists.memory, pieceBytes, streamed{"application/octet-stream", func(to io.Writer) error {
		_, err := io.Copy(to, content)
		return err
	}, func(header http.Header) { header.Set("ETag", strconv.Quote(f.Digest.String())) }}), nil
}

// archive sends a snapshot's files as a tar archive.
func (w workspaces) archive(ctx context.Context, r *request, name state.Name) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	entry, err := w.service.Entry(ctx, r.caller, name, r.which())
	if err != nil {
		return nil, err
	}
	return inPieces(r, w.lists.memory, pieceBytes, streamed{"application/x-tar", func(to io.Writer) error {
		return w.service.WriteEntry(ctx, r.caller.Org, entry, to)
	}, func(header http.Header) { header.Set("X-Holdfast-Snapshot", entry.ID.String()) }}), nil
}

// streamed is an answer that is written as it is made.
type streamed struct {
	media  string
	write  func(io.Writer) error
	header func(http.Header) // may be nil
}

// send breaks an answer that has begun and can't be finished off with its connection, so that
// nobody takes it for whole.
func (a streamed) send(c *gin.Context) error {
	s := newSender(c, func(header http.Header) {
		header.Set("Content-Type", a.media)
		if a.header != nil {
			a.header(header)
		}
	})
	err := a.write(streamWriter{s})
	if err == nil {
		err = s.finish()
	}
	if err != nil && s.started() {
		_ = c.Error(err) // for the request's log line
		panic(http.ErrAbortHandler)
	}
	return err
}

// diff says how a snapshot differs from another, in JSON or line by line.
func (w workspaces) diff(ctx context.Context, r *request, name state.Name) (answer, error) {
	from, text := r.filled("from"), r.choice("format", "json", "text") == "text"
	if err := r.err(); err != nil {
		return nil, err
	}
	before, after, err := w.service.Sides(ctx, r.caller, name, from, r.which())
	if err != nil {
		return nil, err
	}
	files := int64(before.Files + after.Files)
	if text {
		most := pieceBytes + workspace.ComparedBytes + files*workspace.ListedBytes
		return inPieces(r, w.lists.memory, most, streamed{"text/plain; charset=utf-8", func(to io.Writer) error {
			return w.service.WriteDiff(ctx, r.caller.Org, before, after, to)
		}, nil}), nil
	}
	return w.lists.answer(ctx, r, maxOrderBytes+files*fileRowBytes, func() (listing, error) {
		all, err := w.service.Diff(ctx, r.caller.Org, before, after)
		said := api.SnapshotDiff{From: before.Number, To: after.Number, Files: []api.FileDifference{}}
		return listOf(said, "files", all, fileRowBytes, differenceOf), err
	})
}

// pull returns files with their contents.
func (w workspaces) pull(ctx context.Context, r *request, name state.Name) (answer, error) {
	order := object[api.PullOrder](r)
	if err := r.err(); err != nil {
		return nil, err
	}
	entry, err := w.service.Entry(ctx, r.caller, name, order.Snapshot)
	if err != nil {
		return nil, err
	}
	most := 3*min(entry.Bytes, maxPulledBytes) + int64(entry.Files)*fileRowBytes + maxOrderBytes
	return w.lists.answer(ctx, r, most, func() (listing, error) {
		snapshot, err := w.service.Snapshot(ctx, r.caller.Org, entry)
		if err != nil {
			return listing{}, err
		}
		files, total, err := pulledFiles(snapshot, order.Paths)
		if err != nil {
			return listing{}, err
		}
		said := api.PulledFiles{Snapshot: entry.ID.String(), Files: []api.PulledFile{}}
		var all []api.PulledFile
		for _, f := range files {
			one, err := w.pulled(ctx, r, f)
			if err != nil {
				return listing{}, err
			}
			all = append(all, one)
		}
		l := listOf(said, "files", all, fileRowBytes, func(f api.PulledFile) api.PulledFile { return f })
		l.takes += 2 * total
		return l, nil
	})
}

// pulledFiles are the files of these paths; all for none.
func pulledFiles(snapshot workspace.Snapshot, paths []string) (files []workspace.File, total int64, err error) {
	files = snapshot.Files
	if len(paths) > 0 {
		files = nil
		for _, path := range paths {
			f, err := snapshot.File(path)
			if err != nil {
				return nil, 0, err
			}
			files = append(files, f)
		}
	}
	for _, f := range files {
		if total += f.Size; total > maxPulledBytes {
			return nil, 0, fault.New(fault.FilesTooLarge,
				"the files have more than %d bytes together: pull fewer of them, or the archive", maxPulledBytes)
		}
	}
	return files, total, nil
}

func (w workspaces) pulled(ctx context.Context, r *request, f workspace.File) (api.PulledFile, error) {
	content, err := w.service.Content(ctx, r.caller.Org, f)
	if err != nil {
		return api.PulledFile{}, err
	}
	raw, err := io.ReadAll(content)
	if err != nil {
		return api.PulledFile{}, fmt.Errorf("read a file of a snapshot: %w", err)
	}
	one := api.PulledFile{Name: f.Path, SHA256: f.Digest.String()}
	if utf8.Valid(raw) {
		one.Content = string(raw)
	} else {
		one.Base64 = base64.StdEncoding.EncodeToString(raw)
	}
	return one, nil
}
