package gitmirror

import (
	"io/fs"
	"strconv"
)

// Mode is the mode that git keeps of a path.
type Mode uint32

// The modes that there are. Old trees have other permissions in those of files.
const (
	Folder     Mode = 0o040000
	File       Mode = 0o100644
	Executable Mode = 0o100755
	Symlink    Mode = 0o120000
	Submodule  Mode = 0o160000
)

const typeBits Mode = 0o170000

func parseMode(text string) Mode {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil {
		return 0
	}
	return Mode(n)
}

// IsFile says whether it is a file, executable or not.
func (m Mode) IsFile() bool { return m&typeBits == File&typeBits }

// IsExecutable says whether it is a file that can be executed.
func (m Mode) IsExecutable() bool { return m.IsFile() && m&0o100 != 0 }

// fileMode is what an fs.FS says of it. Submodules are empty folders.
func (m Mode) fileMode() fs.FileMode {
	switch {
	case m&typeBits == Symlink:
		return fs.ModeSymlink | 0o777
	case m.IsExecutable():
		return 0o755
	case m.IsFile():
		return 0o644
	}
	return fs.ModeDir | 0o755
}
