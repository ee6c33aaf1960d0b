package sandbox

import "time"

// Limits bound what a command uses. What is 0 has a default, or no limit where none is named.
type Limits struct {
	Files     uint64 `json:"files,omitempty"`     // open at once in a process; 4096
	Processes uint64 `json:"processes,omitempty"` // of the command and all that it starts, threads included; 4096
	FileSize  uint64 `json:"file_size,omitempty"` // of each file that it writes; 8 GiB
	Memory    uint64 `json:"memory,omitempty"`    // where a cgroup can be made; no limit
	Nice      int    `json:"nice,omitempty"`      // 0 to 19
	// CPU is the processors' time that the command may use with all that it starts; no limit.
	CPU time.Duration `json:"cpu,omitempty"`
}

const (
	defaultFiles     = 4096
	defaultProcesses = 4096
	defaultFileSize  = 8 << 30

	// perUser is how many times as many processes as a command the user that it runs as may have, in all its commands
	// together: one command leaves others enough until it is ended.
	perUser = 4
)

// WithDefaults returns the limits with the defaults of those that are 0.
func (l Limits) WithDefaults() Limits {
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
