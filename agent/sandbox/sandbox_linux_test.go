package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Vulnerability: a configuration runs any code on the executor, in its plan already.
// Scenario: it looks for the server's secrets, and for other runs'.
// Check: each look fails, and what the run needs works.
func TestCommandSeesOnlyWhatIsItsOwn(t *testing.T) { worlds(t, checkCommandSeesOnlyWhatIsItsOwn) }

func checkCommandSeesOnlyWhatIsItsOwn(t *testing.T, w world) {
	server := fmt.Sprintf("/proc/%d", os.Getpid())
	t.Setenv("SECRET", secret)
	forbidden := map[string]string{
		"the keys":                         "cat " + w.path("auth.cfg"),
		"the master key":                   "cat " + w.path("master.key"),
		"the data":                         "cat " + w.path("data/holdfast.db"),
		"the data folder's list":           "ls " + w.path("data"),
		"another run":                      "cat " + w.path("runs/other/terraform.tfvars"),
		"another run through ..":           "cat ../other/terraform.tfvars",
		"another run through a link":       "ln -s ../other/terraform.tfvars l; cat l",
		"another run through a hard link":  "ln ../other/terraform.tfvars h && cat h",
		"another run by moving":            "mv ../other/terraform.tfvars m && cat m",
		"the server's environment":         "cat " + server + "/environ",
		"the server's command line":        "cat " + server + "/cmdline",
		"the server's memory map":          "cat " + server + "/maps",
		"the server's files":               "ls -l " + server + "/fd",
		"the server's folder through proc": "cat " + server + "/cwd/go.mod",
		"the server's root through proc":   "cat " + server + "/root/etc/shadow",
		"passwords":                        "cat /etc/shadow",
		"keys of ssh":                      "ls /root",
		"keys of TLS":                      "ls /etc/ssl/private || ls /etc/pki/tls/private",
		"home folders":                     "ls /home",
		"the kernel's log":                 "cat /dev/kmsg",
		"the disk":                         "head -c 10 /dev/vda",
		"to write outside":                 "echo x >" + w.path("new"),
		"to write beside":                  "echo x >../new",
		"to append":                        "echo x >>" + w.path("auth.cfg"),
		"to cut":                           "truncate -s 0 " + w.path("auth.cfg"),
		"to delete":                        "rm " + w.path("auth.cfg"),
		"to write the tools":               "echo x >>" + w.path("tools/attempt"),
		"to write /tmp":                    "echo x >/tmp/holdfast-test-outside",
		"to write /usr":                    "echo x >/usr/holdfast-test-outside",
		"to write /etc":                    "echo x >/etc/holdfast-test-outside",
		"to set the kernel":                "echo 1 >/proc/sys/kernel/sysrq",
		"to make a device":                 "mknod d c 1 3",
		"the list of processes":            "ls /proc",
		// With their paths, which are all that it takes to connect to one of the same user.
		"others' sockets":              "cat /proc/$$/net/unix",
		"others' sockets, of a thread": "cat /proc/$$/task/$$/net/unix",
		"others' connections":          "cat /proc/net/tcp",
		"keyrings":                     "cat /proc/keys",
		"to kill the server":           fmt.Sprintf("kill -0 %d", os.Getpid()),
	}
	if w.level < Namespaces { // where the first process is the command
		forbidden["init's environment"] = "cat /proc/1/environ"
	}
	for what, lines := range forbidden {
		refused(t, what, w.shell(w.policy(), lines))
	}
	for _, file := range []string{"auth.cfg", "master.key", "data/holdfast.db", "runs/other/terraform.tfvars"} {
		if text, err := os.ReadFile(w.path(file)); err != nil || string(text) != secret {
			t.Errorf("%s is %q, %v", file, text, err)
		}
	}
}

func TestCommandHasWhatItNeeds(t *testing.T) { worlds(t, checkCommandHasWhatItNeeds) }

func checkCommandHasWhatItNeeds(t *testing.T, w world) {
	needed := map[string]string{
		"its folder":                "echo x >f && cat f && mkdir -p a/b && mv f a/b/f && ln -s a l && rm -r a l",
		"devices":                   "echo x >/dev/null && head -c 8 /dev/urandom >r && test -s r",
		"itself":                    "read x </proc/self/stat && ls /proc/$$/fd && cat /proc/$$/status /proc/$$/mountinfo >maps",
		"children and pipes":        "seq 1 10 | while read i; do (sleep 0.001 & wait); done",
		"signals to its own":        "sleep 10 & kill $!",
		"no core dumps":             "test $(ulimit -c) = 0",
		"its limit of files":        "test $(ulimit -n) = 4096",
		"files of its own only":     "touch mine && test $(stat -c %a mine) = 600",
		"an environment of its own": "test -z \"$SECRET\" && test -z \"$HOME\"",
	}
	for _, path := range []string{
		"/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/ssl/certs", "/etc/pki/tls/certs",
	} {
		if info, err := os.Stat(path); err == nil { // which of them there are is the machine's matter
			needed[path] = "cat " + path + " >/dev/null"
			if info.IsDir() {
				needed[path] = "ls " + path + " >/dev/null"
			}
		}
	}
	t.Setenv("SECRET", secret)
	for what, lines := range needed {
		if r := w.shell(w.policy(), lines); !r.ok() {
			t.Errorf("%s: %v, %s, it says %q", what, r.err, r.Error, r.output)
		}
	}
}

// Vulnerability: a filter that passes priorities, memory that is the machine's, or modes by which others become root.
// Scenario: a run slows down the server for good, fills the machine's memory beyond its end, or has another account
// become whom it runs as.
// Check: each call is refused, and what tools do with their own files and processes works.
func TestCallsThatReachBeyondTheRun(t *testing.T) { worlds(t, checkCallsThatReachBeyondTheRun) }

func checkCallsThatReachBeyondTheRun(t *testing.T, w world) {
	server := strconv.Itoa(os.Getpid())
	must(t, os.WriteFile(filepath.Join(w.run, "file"), nil, 0o755))
	for what, args := range map[string][]string{
		"shared memory":              {"shared-memory"},
		"a queue of messages":        {"message-queue"},
		"the server's priority":      {"priority", "0", server},
		"the user's priority":        {"priority", "2", "0"},
		"the server's CPUs":          {"affinity", server},
		"the server's scheduler":     {"scheduler", server},
		"the server's disk":          {"io-priority", "1", server},
		"the user's disk":            {"io-priority", "3", "0"},
		"a setuid program":           {"mode", "file", "4755"},
		"a setgid program":           {"mode", "file", "2755"},
		"a setuid program as made":   {"create", "made", "4755"},
		"a setuid program elsewhere": {"mode", "/proc/self/exe", "4755"},
	} {
		refused(t, what, w.attempt(w.policy(), args...))
	}
	if w.level < Namespaces {
		refused(t, "a watch", w.attempt(w.policy(), "watch"))
	}
	for what, args := range map[string][]string{
		"its priority":  {"priority", "0", "0"},
		"its CPUs":      {"affinity", "0"},
		"its scheduler": {"scheduler", "0"},
		"its disk":      {"io-priority", "1", "0"},
		"a mode":        {"mode", "file", "1711"},
		"a file's mode": {"create", "new", "711"},
		"nice":          {"priority", "0", "0"},
	} {
		if r := w.attempt(w.policy(), args...); !r.ok() {
			t.Errorf("%s: %v, %s, %q", what, r.err, r.Error, r.output)
		}
	}
	if r := w.shell(w.policy(), "umask 022; mkdir -m 750 d && install -m 755 file g && nice -n 5 true && tail -n 1 file"); !r.ok() {
		t.Errorf("tools: %v, %s, %q", r.err, r.Error, r.output)
	}
}

// A record says where processes are not counted for the run alone.
func TestUncountedProcessesAreOnTheRecord(t *testing.T) {
	w := newWorld(t)
	around := Confine(w.policy(), Limits{}, fmt.Sprintf("test-%d", os.Getpid()))
	defer func() { _ = around.Close(); RemoveCgroup(around.Cgroup) }()
	text, err := os.ReadFile(filepath.Join(around.Cgroup, "pids.max"))
	counted := around.Cgroup != "" && err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(defaultProcesses)
	if said := strings.Contains(strings.Join(around.Report.Why, "; "), "processes "); said == counted {
		t.Errorf("counted %v: %q", counted, around.Report.Why)
	}
}

func TestSystemCallsOutOfTheSandbox(t *testing.T) { worlds(t, checkSystemCallsOutOfTheSandbox) }

func checkSystemCallsOutOfTheSandbox(t *testing.T, w world) {
	word := int64(42)
	address := strconv.FormatUint(uint64(uintptr(unsafe.Pointer(&word))), 10)
	server := strconv.Itoa(os.Getpid())
	must(t, os.Mkdir(filepath.Join(w.run, "mnt"), 0o700))
	for _, args := range [][]string{
		{"signal", server}, {"ptrace", server}, {"read-memory", server, address}, {"steal-fd", server},
		{"mount", filepath.Join(w.run, "mnt")}, {"unshare", filepath.Join(w.run, "mnt")}, {"chroot", w.run},
		{"handle", w.path("auth.cfg")}, {"user-namespace"}, {"child-in-namespaces"}, {"traced"}, {"keyring"},
		{"fault-handler"}, {"rings"},
		{"limit", server}, // of the processor's time, with which a process ends that has used it up
	} {
		refused(t, args[0], w.attempt(w.policy(), args...))
	}
	for _, what := range []string{"capabilities", "limit-itself"} {
		if r := w.attempt(w.policy(), what); !r.ok() {
			t.Errorf("%s: %v, %s", what, r.err, r.output)
		}
	}
}

// Vulnerability: an address filter knows IPv4 and IPv6, and a kernel has dozens of other kinds of sockets.
// Scenario: a command speaks to the machine's host, has the kernel's parts for cryptography work, or asks which sockets
// there are in the file system.
// Check: it gets none of those, and what tools and providers speak by.
func TestSocketsOfFewKinds(t *testing.T) { worlds(t, checkSocketsOfFewKinds) }

func checkSocketsOfFewKinds(t *testing.T, w world) {
	kind := func(n int) string { return strconv.Itoa(n) }
	stream, datagram, packet := kind(unix.SOCK_STREAM), kind(unix.SOCK_DGRAM), kind(unix.SOCK_SEQPACKET)
	for what, args := range map[string][]string{
		"the host":           {"socket", kind(unix.AF_VSOCK), stream, "0"},
		"cryptography":       {"socket", kind(unix.AF_ALG), packet, "0"},
		"packets":            {"socket", kind(unix.AF_PACKET), datagram, "0"},
		"TIPC":               {"socket", kind(unix.AF_TIPC), stream, "0"},
		"SMC":                {"socket", kind(unix.AF_SMC), stream, "0"},
		"the list of others": {"socket", kind(unix.AF_NETLINK), datagram, kind(unix.NETLINK_SOCK_DIAG)},
		"the audit":          {"socket", kind(unix.AF_NETLINK), datagram, kind(unix.NETLINK_AUDIT)},
		"a pair of others":   {"socket-pair", kind(unix.AF_TIPC), stream},
	} {
		r := w.attempt(w.policy(), args...)
		if refused(t, what, r); !strings.Contains(r.output, "not supported") {
			t.Errorf("%s: %s", what, r.output)
		}
	}
	for what, args := range map[string][]string{
		"paths":      {"socket", kind(unix.AF_UNIX), stream, "0"},
		"IPv4":       {"socket", kind(unix.AF_INET), stream, "0"},
		"IPv6":       {"socket", kind(unix.AF_INET6), datagram, "0"},
		"interfaces": {"socket", kind(unix.AF_NETLINK), kind(unix.SOCK_RAW), kind(unix.NETLINK_ROUTE)},
		"a pair":     {"socket-pair", kind(unix.AF_UNIX), stream},
	} {
		if r := w.attempt(w.policy(), args...); !r.ok() {
			t.Errorf("%s: %v, %s, %q", what, r.err, r.Error, r.output)
		}
	}
}

func TestCommandRunsAsItsUser(t *testing.T) { worlds(t, checkCommandRunsAsItsUser) }

func checkCommandRunsAsItsUser(t *testing.T, w world) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a command as somebody else")
	}
	for dir := filepath.Dir(filepath.Dir(w.root)); dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(t, err)
		if w.level < Namespaces && info.Mode()&1 == 0 { // those have their own folders above the run's
			t.Skipf("TMPDIR is below %s, which others may not enter", dir)
		}
	}
	p := w.policy()
	p.User = &User{UID: 61234, GID: 61235}
	for dir := w.run; dir != "/"; dir = filepath.Dir(dir) {
		if dir != os.TempDir() {
			must(t, os.Chmod(dir, 0o755))
		}
		if dir == w.root {
			break
		}
	}
	must(t, os.Chmod(filepath.Dir(w.root), 0o755))
	must(t, exec.Command("chown", "-R", "61234:61235", w.run).Run())
	r := w.shell(p, "id -u; id -g; id -G; touch f; stat -c %u f")
	if !r.ok() || r.output != "61234\n61235\n61235\n61234\n" {
		t.Errorf("%v, %s, it says %q", r.err, r.Error, r.output)
	}
	if want := max(w.level, Landlock); r.Report.Level != want {
		t.Errorf("with a user of its own it reaches %s, want %s", r.Report.Level, want)
	}
	refused(t, "to become root", w.attempt(p, "become-root"))
	if r := w.attempt(p, "capabilities"); !r.ok() {
		t.Errorf("capabilities: %v, %s", r.err, r.output)
	}
}

// TestFolderInSharedMemory: a run's folder may lie below /dev, where namespaces have devices of their own, also where
// the command is not root. What others have there stays closed.
func TestFolderInSharedMemory(t *testing.T) {
	const shared = "/dev/shm"
	if _, err := os.Stat(shared); err != nil {
		t.Skip("this machine has no shared memory: ", err)
	}
	worlds(t, func(t *testing.T, w world) {
		folder, err := os.MkdirTemp(shared, "holdfast-test-")
		must(t, err)
		t.Cleanup(func() { must(t, os.RemoveAll(folder)) })
		w.run = filepath.Join(folder, "runs", "mine")
		must(t, os.MkdirAll(w.run, 0o755))
		must(t, os.WriteFile(filepath.Join(folder, "auth.cfg"), []byte(secret), 0o644))
		p, user := w.policy(), os.Geteuid()
		if user == 0 {
			user = 61234
			p.User = &User{UID: 61234, GID: 61235}
			must(t, os.Chmod(folder, 0o755))
			must(t, os.Chown(w.run, 61234, 61235))
		}
		r := w.shell(p, "id -u; pwd; echo x >f && cat f")
		if want := fmt.Sprintf("%d\n%s\nx\n", user, w.run); !r.ok() || r.output != want {
			t.Errorf("%v, %s, it says %q, want %q", r.err, r.Error, r.output, want)
		}
		refused(t, "another's file", w.shell(p, "cat ../../auth.cfg"))
		refused(t, "to write beside", w.shell(p, "echo x >../new"))
		refused(t, "to write to shared memory", w.shell(p, "echo x >"+shared+"/holdfast-test-outside"))
	})
}

func TestTooWeakIsRefused(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	p.MinLevel, p.MaxLevel, p.Bubblewrap = Namespaces, None, w.path("no-bubblewrap")
	r := w.shell(p, "touch ran")
	if !r.TooWeak || !strings.Contains(r.Error, "namespaces is the least") {
		t.Errorf("it says %q, %v", r.Error, r.Answer)
	}
	if _, err := os.Stat(filepath.Join(w.run, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// Vulnerability: Landlock leaves modes to whom a file belongs, and commands run as the executor's user by default.
// Scenario: a run takes the server's data folder out of the server's own reach, for all organizations.
// Check: that level is below what is wanted by default.
func TestExecutorsUserIsWeak(t *testing.T) {
	w := newWorld(t)
	p := w.policy()
	if p.MaxLevel = Landlock; Probe(p).Level != Weak {
		t.Errorf("probed %+v", Probe(p))
	}
	p.MinLevel = Landlock
	r := w.shell(p, "chmod 000 "+w.path("data"))
	if info, err := os.Stat(w.path("data")); err != nil || info.Mode().Perm() != 0o755 || !r.TooWeak {
		t.Errorf("%v, %v, %+v", info.Mode(), err, r.Answer)
	}
}

func TestPolicyIsChecked(t *testing.T) {
	for _, p := range []Policy{
		{ReadOnly: []string{"relative"}}, {ReadWrite: []string{"/"}}, {ReadOnly: []string{"/a/../b"}},
		{Open: true, MinLevel: Landlock}, {MinLevel: Namespaces, MaxLevel: Landlock},
	} {
		if err := p.Validate(); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	w := newWorld(t)
	p := w.policy()
	p.ReadOnly = append(p.ReadOnly, w.path("missing"))
	if r := w.shell(p, "true"); !strings.Contains(r.Error, "missing") {
		t.Errorf("a path that isn't there: %q", r.Error)
	}
}

func TestLevelsHaveNames(t *testing.T) {
	for _, level := range []Level{None, Weak, Landlock, Namespaces} {
		var again Level
		text, err := level.MarshalText()
		must(t, err)
		must(t, again.UnmarshalText(text))
		if again != level {
			t.Errorf("%s is read as %s", level, again)
		}
	}
	if _, err := ParseLevel("chroot"); err == nil {
		t.Error("chroot is a level")
	}
}

// What a machine is said to reach is what a command then does reach.
func TestProbeTellsWhatIsReached(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		probed := Probe(w.policy())
		r := w.shell(w.policy(), "true")
		if probed.Level != r.Report.Level || probed.Closed != r.Report.Closed || probed.Level != w.level {
			t.Errorf("probed %+v, reached %+v", probed, r.Report)
		}
	})
}

// A command whose processes nobody counts can take the machine from others, whatever else is closed to it: it is
// refused where more than weak is wanted.
func TestUncountedProcessesAreWeak(t *testing.T) {
	for _, level := range []Level{Namespaces, Landlock, Weak} {
		counted, uncounted := Report{Level: level}, Report{Level: level, Uncounted: true}
		counted.settle()
		uncounted.settle()
		if counted.Level != level || uncounted.Level != Weak {
			t.Errorf("%s: counted %s, uncounted %s", level, counted.Level, uncounted.Level)
		}
		if err := judge(Policy{MinLevel: Landlock}, uncounted); err == nil {
			t.Errorf("%s: it is started", level)
		}
	}
}
