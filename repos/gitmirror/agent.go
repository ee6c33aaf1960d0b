package gitmirror

import (
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh/agent"
)

// keyAgent is an SSH agent with one key, for the time of one command. Its socket is in a folder that nobody else
// may enter, together with the file of known hosts, which is no secret.
type keyAgent struct {
	folder   string
	listener net.Listener
	served   sync.WaitGroup
}

const (
	socketName = "agent"
	knownName  = "known_hosts"
)

// newAgent makes an agent. The folder is not in the data folder: the path of a socket can't be long. Nobody can guess
// its name: a command of a run, which has the server's own user, may be able to connect to a socket that it knows.
func newAgent(c Credentials, r Remote) (_ *keyAgent, err error) {
	folder := filepath.Join(os.TempDir(), "holdfast-ssh-"+rand.Text())
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	a := &keyAgent{folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	var known strings.Builder
	for _, k := range c.KnownHosts {
		known.WriteString(r.Host + " " + k.String() + "\n")
	}
	if err := os.WriteFile(filepath.Join(folder, knownName), []byte(known.String()), 0o600); err != nil {
		return nil, err
	}
	if len(c.Key) == 0 {
		return a, nil
	}
	key, err := c.signer()
	if err != nil {
		return nil, err
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		return nil, newError(AddressInvalid, "the private key is of a type that is not known")
	}
	if a.listener, err = net.Listen("unix", filepath.Join(folder, socketName)); err != nil {
		return nil, err
	}
	a.served.Go(func() { a.serve(ring) })
	return a, nil
}

// serve answers until the socket is closed; who is connected then is gone with the command.
func (a *keyAgent) serve(ring agent.Agent) {
	for {
		connection, err := a.listener.Accept()
		if err != nil {
			return
		}
		a.served.Go(func() {
			_ = agent.ServeAgent(ring, connection)
			_ = connection.Close()
		})
	}
}

func (a *keyAgent) close() error {
	if a.listener != nil {
		_ = a.listener.Close() // it removes the socket
	}
	return os.RemoveAll(a.folder)
}

// command returns what git runs instead of ssh. All of it is put together of words that were checked; git has a
// shell read it. The address is the one that was looked at, and the key that the host shows has to be that of the
// name.
func (a *keyAgent) command(r Remote, address string) string {
	identity := "IdentityAgent=none"
	if a.listener != nil {
		identity = "IdentityAgent=" + filepath.Join(a.folder, socketName)
	}
	options := []string{"-F", "none", "-x", "-a", "-T"}
	for _, o := range []string{
		"HostName=" + address, "HostKeyAlias=" + r.Host, "CheckHostIP=no", "StrictHostKeyChecking=yes",
		"UserKnownHostsFile=" + filepath.Join(a.folder, knownName), "GlobalKnownHostsFile=/dev/null",
		"UpdateHostKeys=no", "VerifyHostKeyDNS=no", "BatchMode=yes", "IdentityFile=none", identity,
		"PreferredAuthentications=publickey", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no",
		"ClearAllForwardings=yes", "ForwardAgent=no", "PermitLocalCommand=no", "ProxyCommand=none", "ProxyJump=none",
		"ControlMaster=no", "ControlPath=none", "Tunnel=no", "ConnectTimeout=20", "ServerAliveInterval=15",
		"ServerAliveCountMax=4", "LogLevel=ERROR",
	} {
		options = append(options, "-o", o)
	}
	quoted := []string{"ssh"}
	for _, o := range options {
		quoted = append(quoted, quote(o))
	}
	return strings.Join(quoted, " ")
}

// quote makes one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
