//go:build e2e

package test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/holdfast/holdfast/internal/gittest"
)

// sshServer is an sshd that lets in one account with one key. All that it has is in a folder of the test's.
type sshServer struct {
	*testing.T
	folder  string
	address string
	port    string
	key     string // which is let in, in PEM
	host    string // the host's public key
}

// sshAccount is whose the sshd is: it is never root's, which would want a folder and an account of the machine's.
const sshAccount = 65534

// startSSH starts an sshd. It asks for passwords too, of whoever has no good key.
func startSSH(t *testing.T) *sshServer {
	t.Helper()
	installed, err := exec.Command("../scripts/sshd.sh").Output()
	if err != nil {
		t.Fatalf("there is no sshd, and none can be fetched: %v", err)
	}
	folder, err := os.MkdirTemp("/tmp", "hfs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &sshServer{T: t, folder: folder, address: ownLoopback()}
	s.port = freePort(t, s.address)
	var public string
	s.key, public = newSSHKey(t)
	private, host := newSSHKey(t)
	s.host = host
	// Its account may enter no folder of root's, so that it gets a copy of the program.
	s.must(os.CopyFS(s.path("program"), os.DirFS(filepath.Dir(strings.TrimSpace(string(installed))))))
	account := os.Geteuid()
	if account == 0 {
		account = sshAccount
	}
	s.write("passwd", fmt.Sprintf("git:*:%d:%d:git:%s:/bin/sh\n", account, account, folder))
	s.write("group", fmt.Sprintf("git:*:%d:\n", account))
	s.write("keys", public+"\n")
	s.write("host", private)
	s.write("config", strings.Join([]string{"HostKey " + s.path("host"), "AuthorizedKeysFile " + s.path("keys"),
		"ListenAddress " + s.address, "UsePAM no", "StrictModes no", "PidFile none", "PasswordAuthentication yes",
		"KbdInteractiveAuthentication yes", "LogLevel VERBOSE",
		// The repositories are another account's.
		"SetEnv GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=*"}, "\n")+"\n")
	s.must(os.Chmod(folder, 0o711))
	if os.Geteuid() == 0 {
		s.must(os.Chown(s.path("host"), account, account))
	}
	s.start()
	return s
}

func (s *sshServer) path(name string) string { return filepath.Join(s.folder, name) }

func (s *sshServer) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// write writes a file. Nobody but the account may read the host's key, or sshd would refuse to.
func (s *sshServer) write(name, text string) {
	s.Helper()
	mode := os.FileMode(0o644)
	if name == "host" {
		mode = 0o600
	}
	s.must(os.WriteFile(s.path(name), []byte(text), mode))
}

// newSSHKey returns a private key in PEM, and the public one as authorized_keys has it.
func newSSHKey(t *testing.T) (private, public string) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

// otherTypeOfKey returns a public key that is not of the type of those that newSSHKey makes.
func otherTypeOfKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))
}

func (s *sshServer) start() {
	s.Helper()
	log, err := os.Create(s.path("log"))
	s.must(err)
	defer log.Close()
	environ := []string{"PATH=" + os.Getenv("PATH"), "NSS_WRAPPER_PASSWD=" + s.path("passwd"),
		"NSS_WRAPPER_GROUP=" + s.path("group")}
	cmd := exec.Command(s.path("program/sshd"), "-D", "-e", "-f", s.path("config"), "-p", s.port)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.folder, environ, log, log
	dieWithParent(cmd)
	if os.Geteuid() == 0 {
		becomes(cmd, sshAccount)
	}
	p, err := startCommand(cmd)
	s.must(err)
	s.Cleanup(func() {
		_ = p.end(syscall.SIGTERM)
		if s.Failed() {
			s.Logf("sshd said\n%s", s.said())
		}
	})
	s.must(pollFor(awaitLimit, func() error {
		if ended, err := p.ended(); ended {
			return permanent{fmt.Errorf("sshd has ended: %w\n%s", err, s.said())}
		}
		if !strings.Contains(s.said(), "Server listening on") {
			return errors.New("sshd does not listen")
		}
		return nil
	}))
}

func (s *sshServer) said() string { return read(s.T, s.path("log")) }

// repo makes a repository that sshd serves, and returns it with its URL.
func (s *sshServer) repo(name string) (*gittest.Repo, string) {
	s.Helper()
	served := s.path("served")
	s.must(os.MkdirAll(served, 0o755))
	return (&gittest.Server{Root: served}).Repo(s.T, name),
		"ssh://git@" + s.address + ":" + s.port + served + "/" + name + ".git"
}

// known is a line of known_hosts: this server's address with a key.
func (s *sshServer) known(key string) string {
	return "[" + s.address + "]:" + s.port + " " + key + "\n"
}
