package sandbox

// Order is what a process is told that becomes a command: it comes through a pipe, because its
// environment is secret.
type Order struct {
	Command string   `json:"command"` // absolute
	Args    []string `json:"args"`    // without the command's own name
	WorkDir string   `json:"work_dir"`
	Env     []string `json:"env"`
	Policy  Policy   `json:"policy"`
	Limits  Limits   `json:"limits"`
	// Begun is what was closed around the process before it began.
	Begun Report `json:"begun"`
}

// Answer is what the process says just before it becomes the command, or instead of it.
type Answer struct {
	Report  Report `json:"report"`
	Error   string `json:"error,omitempty"`
	TooWeak bool   `json:"too_weak,omitempty"` // the error is a TooWeakError
}
