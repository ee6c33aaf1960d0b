package sandbox

// Limits bound what a command uses. What is 0 has a default, or no limit where none is named.
type Limits struct {
	Files     uint64 `json:"files,omitempty"`     // open at once in a process; 4096
	Processes uint64 `json:"processes,omitempty"` // of its user, threads included; 4096
	FileSize  uint64 `json:"file_size,omitempty"` // of each file that it writes; 8 GiB
	Memory    uint64 `json:"memory,omitempty"`    // where a cgroup can be made; no limit
	Nice      int    `json:"nice,omitempty"`      // 0 to 19
}

const (
	defaultFiles     = 4096
	defaultProcesses = 4096
	defaultFileSize  = 8 << 30
)

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = defaultFiles
	}
	if l.Processes == 0 {
		l.Processes = defaultProcesses
	}
	if l.FileSize == 0 {
		l.FileSize = defaultFileSize
	}
	l.Nice = min(max(l.Nice, 0), 19)
	return l
}
