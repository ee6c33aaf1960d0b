package sandbox

import (
	"path/filepath"
	"strings"
)

// What any program needs to run at all: programs, libraries, certificates, names. Of /etc
// these are single entries, because others of it are secrets.
func systemReadOnly() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/opt",
		"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
		"/etc/pki/tls/cert.pem",
		"/etc/pki/tls/openssl.cnf", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies",
		"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/hostname", "/etc/nsswitch.conf", "/etc/gai.conf",
		"/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/localtime", "/etc/timezone",
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path", "/etc/alternatives",
		"/etc/mime.types", "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/gitconfig", "/etc/os-release",
		"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
	}
}

// Of /proc a command reads what says nothing of other processes. In namespaces too: the network and the keyrings that
// it tells of are the machine's.
func systemProc() []string {
	return append(ownProc(), "/proc/sys", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg",
		"/proc/uptime", "/proc/version", "/proc/filesystems", "/proc/cgroups")
}

// ownProc is what /proc says of the process itself: not net, nor that of its threads, which name the sockets of
// everybody who shares the network.
func ownProc() (all []string) {
	for _, name := range []string{
		"auxv", "cgroup", "cmdline", "comm", "coredump_filter", "environ", "fd", "fdinfo", "io", "limits", "loginuid", "maps",
		"mountinfo", "mounts", "mountstats", "oom_adj", "oom_score", "oom_score_adj", "pagemap", "sched", "schedstat",
		"sessionid", "setgroups", "smaps", "smaps_rollup", "stat", "statm", "status", "uid_map", "gid_map", "wchan",
	} {
		all = append(all, "/proc/self/"+name)
	}
	return all
}

func systemDevices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// Exposed returns the folder of the system that a path lies in and that every command may read;
// empty if it lies in none. Whoever keeps secrets at the path has to keep them elsewhere.
func Exposed(path string) string {
	for there := filepath.Clean(path); there != "/"; there = filepath.Dir(there) { // it need not be there yet
		if real, err := filepath.EvalSymlinks(there); err == nil {
			path = filepath.Join(real, strings.TrimPrefix(filepath.Clean(path), there))
			break
		}
	}
	for _, folder := range systemReadOnly() {
		if real, err := filepath.EvalSymlinks(folder); err == nil && (path == real || strings.HasPrefix(path, real+"/")) {
			return folder
		}
	}
	return ""
}
