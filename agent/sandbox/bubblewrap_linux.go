package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files that bubblewrap is given beside those of Enter.
const (
	infoFD    = 5 // where it says which process the command is
	programFD = 6 // our own program, which has no path in there
)

// bubblewrapPaths are where it is looked for.
func bubblewrapPaths() []string {
	return []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}
}

// Installed tells apart what there is of bubblewrap on this machine: it changes when the program is installed, replaced
// or removed.
func Installed() string {
	var all []string
	for _, path := range bubblewrapPaths() {
		if info, err := os.Stat(path); err == nil {
			all = append(all, fmt.Sprint(path, info.ModTime().UnixNano(), info.Size(), info.Mode()))
		}
	}
	return strings.Join(all, " ")
}

// findBubblewrap finds bubblewrap where it can make namespaces, which many systems refuse.
func findBubblewrap(p Policy) (string, error) {
	paths := bubblewrapPaths()
	if p.Bubblewrap != "" {
		paths = []string{p.Bubblewrap}
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		probe := exec.Command(path,
			append(namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true")...)
		probe.Env = []string{}
		if out, err := probe.CombinedOutput(); err != nil {
			return "", fmt.Errorf("bubblewrap can't make namespaces: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return path, nil
	}
	return "", fmt.Errorf("there is no bubblewrap (looked for %s)", strings.Join(paths, ", "))
}

// namespaces are those that a command has of its own. The network is the machine's, because
// providers need it; see closeNetwork.
func namespaces() []string {
	return []string{"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--as-pid-1"}
}

// bubblewrapArgs make the file system of a policy, and start the program in it. The command
// is the first process in there: with it all the others end.
func bubblewrapArgs(p Policy, program ...string) []string {
	args := append([]string{"bwrap", "--info-fd", strconv.Itoa(infoFD)}, namespaces()...)
	// First: a device file system hides folders that were made in /dev/shm before it.
	args = append(args, "--dev", "/dev", "--proc", "/proc")
	for _, folder := range above(append(append(systemReadOnly(), p.ReadOnly...), p.ReadWrite...)) {
		args = append(args, "--perms", "0755", "--dir", folder) // else it is root's alone
	}
	for _, path := range systemReadOnly() {
		args = append(args, "--ro-bind-try", path, path)
	}
	for _, path := range p.ReadOnly {
		args = append(args, "--ro-bind", path, path)
	}
	for _, path := range p.ReadWrite {
		args = append(args, "--bind", path, path)
	}
	return append(append(args, "--chdir", "/", "--"), program...)
}

// above are the folders that the paths are in, each after the one that it is in.
func above(paths []string) []string {
	var all []string
	for _, path := range paths {
		for folder := filepath.Dir(path); folder != "/"; folder = filepath.Dir(folder) {
			all = append(all, folder)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Process is a command's process that was started in its confinement.
type Process struct {
	// Child is who is to be waited for, and whose exit tells the command's.
	Child *os.Process
	// PID is the command's own.
	PID int
	// Inside says that it is in namespaces of its own. Then a signal that ended the command is
	// told as the exit code 128 more than its number, because Child is its keeper.
	Inside bool
}

// StartIn starts our own program as this command of ours in the confinement. The files are
// its first five: stdin, stdout, stderr, its order and its answer.
func (c *Confinement) StartIn(attributes *os.ProcAttr, command string) (Process, error) {
	c.Start(attributes.Sys)
	if c.bubblewrap == "" {
		child, err := os.StartProcess(ownBinary, []string{"holdfast", command}, attributes)
		if err != nil {
			return Process{}, err
		}
		return Process{Child: child, PID: child.Pid}, nil
	}
	return c.startInside(attributes, command)
}

// ownBinary is this very program, even when its file was replaced by an upgrade meanwhile.
const ownBinary = "/proc/self/exe"

func (c *Confinement) startInside(attributes *os.ProcAttr, command string) (Process, error) {
	program, err := os.Open(ownBinary)
	if err != nil {
		return Process{}, err
	}
	defer program.Close()
	info, tell, err := os.Pipe()
	if err != nil {
		return Process{}, err
	}
	defer info.Close()
	inside := *attributes
	inside.Files = append(append([]*os.File{}, attributes.Files...), tell, program)
	child, err := os.StartProcess(c.bubblewrap,
		bubblewrapArgs(c.policy, fmt.Sprintf("/proc/self/fd/%d", programFD), command), &inside)
	_ = tell.Close()
	if err != nil {
		return Process{}, err
	}
	var said struct {
		PID int `json:"child-pid"`
	}
	text, err := io.ReadAll(io.LimitReader(info, 64<<10))
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err == nil && said.PID <= 0 {
		err = errors.New("bubblewrap doesn't say which process the command is")
	}
	if err != nil {
		_ = child.Kill()
		_, _ = child.Wait()
		return Process{}, err
	}
	return Process{Child: child, PID: said.PID, Inside: true}, nil
}
