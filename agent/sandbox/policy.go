package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// Policy is what a command may do. The system's own programs, libraries and certificates can
// always be read; nothing else is open that isn't named here.
type Policy struct {
	// ReadOnly are files and folders, with all that is in them, to read and execute: the tool,
	// the mirror of providers.
	ReadOnly []string `json:"read_only,omitempty"`
	// ReadWrite are those to write as well: the run's own folder.
	ReadWrite []string `json:"read_write,omitempty"`
	Network   Network  `json:"network"`
	// User is whom the command runs as, where we are root; nil for whoever we are.
	User *User `json:"user,omitempty"`
	// MinLevel is the least level at which the command is started at all.
	MinLevel Level `json:"min_level"`
	// MaxLevel, if it is not none, is the highest level to try.
	MaxLevel Level `json:"max_level,omitempty"`
	// Bubblewrap is where that program is; empty for the usual places.
	Bubblewrap string `json:"bubblewrap,omitempty"`
	// Open leaves the sandbox out: MinLevel must be none then.
	Open bool `json:"open,omitempty"`
}

// User is an account of the system by its numbers.
type User struct {
	UID uint32 `json:"uid"`
	GID uint32 `json:"gid"`
}

// byLandlock is the level that Landlock alone comes to. It leaves the modes of files to whom they belong, so a command
// that runs as the executor's user can take the executor's files out of reach.
func (p Policy) byLandlock() Level {
	if p.User != nil && p.User.UID != 0 && int(p.User.UID) != os.Geteuid() {
		return Landlock
	}
	return Weak
}

// Network is what a command may reach of it.
type Network struct {
	// Open leaves all of it reachable, loopback and metadata services too.
	Open bool `json:"open,omitempty"`
	// Allow are addresses within what is closed that stay reachable: Holdfast's own.
	Allow []netip.AddrPort `json:"allow,omitempty"`
	// Ports, if there are any, are the only TCP ports that may be connected to, besides
	// those of Allow.
	Ports []uint16 `json:"ports,omitempty"`
	// RequireClosed refuses to start the command where loopback and metadata can't be closed.
	RequireClosed bool `json:"require_closed,omitempty"`
}

// Report says what was reached for a command.
type Report struct {
	Level Level `json:"level"`
	// Network says in words what is closed of it.
	Network string `json:"network"`
	// Closed says whether loopback and metadata addresses are closed.
	Closed bool `json:"network_closed"`
	// Uncounted says that nobody counts the command's processes and CPU time; then the level is weak at most.
	Uncounted bool `json:"uncounted,omitempty"`
	// Why names what is weaker than it could be, and why.
	Why []string `json:"why,omitempty"`
}

// settle lowers the level of a command whose processes nobody counts: it can take the machine from all others.
func (r *Report) settle() {
	if r.Uncounted {
		r.Level = min(r.Level, Weak)
	}
}

func (r *Report) because(format string, args ...any) {
	r.Why = append(r.Why, fmt.Sprintf(format, args...))
}

// TooWeakError says that a machine can't give the least level that a policy wants.
type TooWeakError struct {
	Want   Level
	Closed bool // it wants loopback and metadata addresses closed
	Report Report
}

func (e *TooWeakError) Error() string {
	text := fmt.Sprintf("the sandbox reaches level %s here, and %s is the least that is wanted", e.Report.Level, e.Want)
	if e.Closed && !e.Report.Closed {
		text += "; loopback and metadata addresses have to be closed, and are open"
	}
	for _, why := range e.Report.Why {
		text += "; " + why
	}
	return text
}

// Validate says what is wrong with the policy itself.
func (p Policy) Validate() error {
	for _, paths := range [][]string{p.ReadOnly, p.ReadWrite} {
		for _, path := range paths {
			if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
				return fmt.Errorf("a sandbox can't open %q: it takes clean absolute paths below /", path)
			}
		}
	}
	if p.Open && p.MinLevel > None {
		return fmt.Errorf("a command can't be left out of the sandbox and need level %s", p.MinLevel)
	}
	if p.Network.Open && p.Network.RequireClosed {
		return errors.New("a network can't be open and have to be closed")
	}
	if p.MaxLevel != None && p.MaxLevel < p.MinLevel {
		return fmt.Errorf("a sandbox of at most level %s can't reach %s", p.MaxLevel, p.MinLevel)
	}
	return nil
}
