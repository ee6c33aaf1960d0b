package tools

import (
	"archive/zip"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// maxEntries is how many files a release's archive may have: the program, a licence, some texts.
const maxEntries = 100

// stageArchive unpacks the program, and nothing else, from a release's archive.
func stageArchive(ctx context.Context, staging string, name Name, archive string) (made Tool, err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return Tool{}, fault.Wrap(err, fault.ToolUntrusted, "the archive is no zip file")
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	program, err := programIn(z.File, name.Binary())
	if err != nil {
		return Tool{}, err
	}
	r, err := program.Open()
	if err != nil {
		return Tool{}, fault.Wrap(err, fault.ToolUntrusted, "the archive is damaged")
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	made, err = stage(ctx, staging, name, r)
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) {
		err = fault.Wrap(err, fault.ToolUntrusted, "the archive is damaged")
	}
	return made, err
}

// programIn finds the one entry of this name. An archive with anything in it that isn't an
// ordinary file below its top is refused as a whole: releases have no such thing.
func programIn(entries []*zip.File, binary string) (program *zip.File, err error) {
	if len(entries) > maxEntries {
		return nil, fault.New(fault.ToolUntrusted, "the archive has more than %d entries", maxEntries)
	}
	for _, entry := range entries {
		clean := strings.TrimSuffix(entry.Name, "/")
		if !fs.ValidPath(clean) || path.Clean(clean) != clean || strings.ContainsAny(clean, "\\:\x00") {
			return nil, fault.New(fault.ToolUntrusted, "the archive has an entry %.100q, which leads out of it", entry.Name)
		}
		if mode := entry.Mode(); !mode.IsRegular() && !mode.IsDir() {
			return nil, fault.New(fault.ToolUntrusted, "the archive's entry %.100q is no ordinary file", entry.Name)
		}
		if clean != binary {
			continue
		}
		if program != nil || entry.Mode().IsDir() || entry.UncompressedSize64 > maxBinary {
			return nil, fault.New(fault.ToolUntrusted, "the archive should have one program %s, of at most %d bytes", binary,
				maxBinary)
		}
		program = entry
	}
	if program == nil {
		return nil, fault.New(fault.ToolUntrusted, "the archive has no %s", binary)
	}
	return program, nil
}
