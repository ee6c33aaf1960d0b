package sandbox

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// The versions of Landlock's interface from which it can do what we ask of it.
const (
	abiTruncate = 3 // below it a file outside the policy could be cut, so it counts for none
	abiConnect  = 4
	abiScopes   = 6
)

// landlockABI is the version that the kernel speaks, 0 for none.
func landlockABI() int {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

func (r *Report) withoutLandlock(abi int) {
	r.because("this kernel has no Landlock, or one that can't keep files from being cut (version %d)", abi)
}

// restrict closes to this process and its children, for good, what the policy doesn't open.
func restrict(p Policy, r *Report) error {
	abi := landlockABI()
	if abi < abiTruncate {
		r.withoutLandlock(abi)
		return nil
	}
	rules, err := fileRules(p)
	if err != nil {
		return err
	}
	if err := landlock.V6.BestEffort().RestrictPaths(rules...); err != nil {
		return fmt.Errorf("can't close the file system with Landlock: %w", err)
	}
	if abi < abiScopes {
		r.because("this kernel's Landlock (version %d) doesn't keep signals and abstract sockets in the sandbox", abi)
	} else if err := landlock.V6.BestEffort().RestrictScoped(); err != nil {
		return fmt.Errorf("can't keep signals in the sandbox with Landlock: %w", err)
	}
	if r.Level < Namespaces {
		r.because("Landlock leaves open sockets that have a path, and the modes and times of files of the user that the " +
			"command runs as")
		if p.byLandlock() < Landlock {
			r.because("that user is the executor's own: name a user for commands, or install bubblewrap")
		}
	}
	r.Level = max(r.Level, p.byLandlock())
	return restrictPorts(p.Network, abi, r)
}

// restrictPorts leaves the policy's TCP ports to connect to. Landlock knows ports and no
// addresses.
func restrictPorts(n Network, abi int, r *Report) error {
	if n.Open || len(n.Ports) == 0 {
		return nil
	}
	if abi < abiConnect {
		r.because("this kernel's Landlock (version %d) can't restrict ports", abi)
		return nil
	}
	var rules []landlock.Rule
	for _, port := range n.Ports {
		rules = append(rules, landlock.ConnectTCP(port))
	}
	for _, address := range n.Allow {
		rules = append(rules, landlock.ConnectTCP(address.Port()))
	}
	// Providers listen on loopback where they can't use a socket file; a port that the kernel
	// picks harms nobody.
	rules = append(rules, landlock.BindTCP(0))
	if err := landlock.V6.BestEffort().RestrictNet(rules...); err != nil {
		return fmt.Errorf("can't restrict TCP ports with Landlock: %w", err)
	}
	r.Network += fmt.Sprintf("; TCP goes to ports %v and those of Holdfast only", n.Ports)
	return nil
}

// fileRules opens the system's and the policy's files. What the policy names has to be there.
func fileRules(p Policy) ([]landlock.Rule, error) {
	system := append(systemReadOnly(), systemProc()...)
	rules := []landlock.Rule{landlock.RWFiles(systemDevices()...).IgnoreIfMissing()}
	for _, path := range system {
		if info, err := os.Stat(path); err == nil {
			rules = append(rules, readOnly(path, info))
		}
	}
	for _, path := range p.ReadOnly {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("the sandbox can't open a path: %w", err)
		}
		rules = append(rules, readOnly(path, info))
	}
	for _, path := range p.ReadWrite {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("the sandbox can't open a path: %w", err)
		}
		rules = append(rules, readWrite(path, info))
	}
	return rules, nil
}

func readOnly(path string, info os.FileInfo) landlock.Rule {
	if info.IsDir() {
		return landlock.RODirs(path)
	}
	return landlock.ROFiles(path)
}

// readWrite lets files be moved between folders too: tools unpack beside and rename.
func readWrite(path string, info os.FileInfo) landlock.Rule {
	if info.IsDir() {
		return landlock.RWDirs(path).WithRefer()
	}
	return landlock.RWFiles(path)
}
