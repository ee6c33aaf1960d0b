package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Confinement is what is made around a command before it begins: a cgroup, where one can be
// made, in which addresses are closed and from which nobody gets away.
type Confinement struct {
	Cgroup string // its folder; empty for none
	Report Report // what was reached so far

	folder     *os.File
	policy     Policy
	bubblewrap string // empty for no namespaces
}

const cgroupPrefix = "holdfast-command-"

// Confine makes what can be made. The name is the cgroup's own.
func Confine(p Policy, l Limits, name string) *Confinement {
	c := &Confinement{Report: Report{Network: "open"}, policy: p}
	if p.Open {
		return c
	}
	if p.MaxLevel == None || p.MaxLevel >= Namespaces {
		path, err := findBubblewrap(p)
		if err != nil {
			c.Report.because("the command has no namespaces of its own: %v", err)
		} else {
			c.bubblewrap, c.Report.Level = path, Namespaces
		}
	}
	c.makeGroup(l, name)
	return c
}

// makeGroup makes the cgroup with what belongs to it.
func (c *Confinement) makeGroup(l Limits, name string) {
	p := c.policy
	if err := c.makeCgroup(name); err != nil {
		c.Report.because("no cgroup could be made: %v", err)
		c.countByLooks(errors.New("there is no cgroup"))
		if !p.Network.Open {
			c.Report.because("loopback and metadata addresses are open")
		}
		return
	}
	if l.Memory > 0 {
		if err := c.set("memory.max", strconv.FormatUint(l.Memory, 10)); err != nil {
			c.Report.because("memory has no limit: %v", err)
		}
	}
	if err := c.set("pids.max", strconv.FormatUint(l.WithDefaults().Processes, 10)); err != nil {
		c.countByLooks(err)
	}
	if p.Network.Open {
		return
	}
	if err := closeNetwork(c.Cgroup, p.Network); err != nil {
		c.Report.because("loopback and metadata addresses are open: %v", err)
		return
	}
	c.Report.Closed, c.Report.Network = true,
		"loopback, link-local and metadata addresses are closed but for Holdfast's own and the resolver's"
}

// countByLooks says what the limits of processes and of CPU time come to without a cgroup's: the shim looks at what the
// command has started, which /proc has to show.
func (c *Confinement) countByLooks(why error) {
	if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", os.Getpid())); err != nil {
		c.Report.Uncounted = true
		c.Report.because("neither processes nor CPU time are counted: %v, and /proc doesn't show the command's: %v", why, err)
		return
	}
	c.Report.because("processes are counted once a second and not by the kernel: %v", why)
}

// Start puts the process that is about to be started there.
func (c *Confinement) Start(attributes *syscall.SysProcAttr) {
	if c.folder != nil {
		attributes.UseCgroupFD, attributes.CgroupFD = true, int(c.folder.Fd())
	}
}

// Made says whether there is anything to abandon.
func (c *Confinement) Made() bool { return c.folder != nil || c.bubblewrap != "" }

// Close is for when the process was started. The cgroup stays; see RemoveCgroup.
func (c *Confinement) Close() error {
	if c.folder == nil {
		return nil
	}
	return c.folder.Close()
}

// RemoveCgroup removes it, if nothing is left in it.
func RemoveCgroup(path string) {
	if path != "" {
		_ = os.Remove(path) // it is empty of processes; if not, nobody can do more
	}
}

func (c *Confinement) makeCgroup(name string) error {
	parent, err := ownCgroup()
	if err != nil {
		return err
	}
	sweep(parent)
	path := filepath.Join(parent, cgroupPrefix+name)
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(path, "cgroup.kill")); err != nil {
		return errors.Join(errors.New("its processes could not be killed together"), os.Remove(path))
	}
	folder, err := os.Open(path)
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	c.Cgroup, c.folder = path, folder
	return nil
}

// sweepAge is far more than starting a process takes: what is older and empty is left over.
const sweepAge = time.Hour

// sweep removes the cgroups of commands whose shims did not live to do so. One in which a
// process is left can't be removed.
func sweep(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), cgroupPrefix) {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > sweepAge {
			_ = os.Remove(filepath.Join(parent, entry.Name()))
		}
	}
}

// Abandon gives up what was made, namespaces too, and says why.
func (c *Confinement) Abandon(why error) {
	_ = c.Close()
	RemoveCgroup(c.Cgroup)
	*c = Confinement{Report: Report{Network: "open"}, policy: c.policy}
	c.countByLooks(errors.New("there is no cgroup"))
	c.Report.because("the command could not be started in namespaces and a cgroup, so loopback and metadata addresses "+
		"are open: %v", why)
}

func (c *Confinement) set(file, value string) error {
	f, err := os.OpenFile(filepath.Join(c.Cgroup, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// ownCgroup is the folder of the cgroup (of version 2) that this process is in.
func ownCgroup() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	memberships, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	root, mount, ok := cgroupMount(string(mounts))
	if !ok {
		return "", errors.New("cgroups of version 2 are not mounted")
	}
	for line := range strings.Lines(string(memberships)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		below, err := filepath.Rel(root, own)
		if err != nil || strings.HasPrefix(below, "..") {
			return "", fmt.Errorf("the cgroup %s is not below what is mounted, %s", own, root)
		}
		return filepath.Join(mount, below), nil
	}
	return "", errors.New("this process is in no cgroup of version 2")
}

// cgroupMount finds which part of the hierarchy is mounted where. Its last line wins, as the
// mount that covers others.
func cgroupMount(mountinfo string) (root, mount string, ok bool) {
	for line := range strings.Lines(mountinfo) {
		before, after, found := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if found && len(fields) > 5 && strings.HasPrefix(after, "cgroup2 ") {
			root, mount, ok = fields[3], fields[4], true
		}
	}
	return root, mount, ok
}
