package gitmirror

import (
	"encoding/base64"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Credentials are what a repository is fetched with. The zero value is nothing, as for a public one.
type Credentials struct {
	// User and Token are for https: a user name where the provider wants a particular one, and a token or
	// password.
	User, Token string
	// Key is a private key for ssh, in PEM, without a passphrase.
	Key []byte
	// KnownHosts are the keys that an ssh host may have, as ParseKnownHosts returns them. Without one no ssh host is
	// talked to.
	KnownHosts []HostKey
}

// HostKey is a public key of an ssh host: its type and its base64.
type HostKey struct{ Type, Key string }

// String returns the key as known_hosts has it behind the host.
func (k HostKey) String() string { return k.Type + " " + k.Key }

const (
	maxToken     = 8 << 10
	maxKey       = 32 << 10
	maxHostKeys  = 20
	maxKnownText = 32 << 10
)

// Check refuses credentials that can't be passed to git, or are no credentials.
func (c Credentials) Check() error {
	if len(c.Token) > maxToken || len(c.User) > maxURL || hasControl(c.Token) || hasControl(c.User) {
		return newError(AddressInvalid, "a user or token is too long, or has a character that none has")
	}
	if len(c.Key) == 0 {
		return nil
	}
	_, err := c.signer()
	return err
}

// hasControl finds what would end the line in which the credential helper says it.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func (c Credentials) signer() (any, error) {
	if len(c.Key) > maxKey {
		return nil, newError(AddressInvalid, "a private key has at most %d bytes", maxKey)
	}
	key, err := ssh.ParseRawPrivateKey(c.Key)
	if err != nil { // the text of the error might have something of the key
		return nil, newError(AddressInvalid, "the private key can't be read: it has to be in PEM, without a passphrase")
	}
	return key, nil
}

// PublicKey returns the public key of a private one, as authorized_keys and providers want it.
func PublicKey(private []byte) (string, error) {
	key, err := Credentials{Key: private}.signer()
	if err != nil {
		return "", err
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return "", newError(AddressInvalid, "the private key is of a type that is not known")
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

// ParseKnownHosts reads lines of known_hosts, or of what ssh-keyscan prints: "host type key", or "type key"
// alone. Lines of other hosts are refused, and so are names that are hashed, and markers such as
// @cert-authority.
func ParseKnownHosts(text string, r Remote) ([]HostKey, error) {
	if len(text) > maxKnownText {
		return nil, newError(AddressInvalid, "the known hosts have more than %d bytes", maxKnownText)
	}
	var keys []HostKey
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, err := parseHostKey(strings.Fields(line), r)
		if err != nil {
			return nil, err
		}
		if keys = append(keys, key); len(keys) > maxHostKeys {
			return nil, newError(AddressInvalid, "there are more than %d known hosts", maxHostKeys)
		}
	}
	return keys, nil
}

func parseHostKey(fields []string, r Remote) (HostKey, error) {
	if len(fields) >= 3 && isOneOf(r.knownNames(), strings.Split(strings.ToLower(fields[0]), ",")) {
		fields = fields[1:]
	}
	if len(fields) < 2 {
		return HostKey{}, newError(AddressInvalid, "a line of the known hosts is not \"host type key\"")
	}
	raw, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return HostKey{}, newError(AddressInvalid, "a line of the known hosts has no key of %s", r.Host)
	}
	key, err := ssh.ParsePublicKey(raw)
	if err != nil || key.Type() != fields[0] {
		return HostKey{}, newError(AddressInvalid, "a line of the known hosts has no key of %s", r.Host)
	}
	return HostKey{Type: key.Type(), Key: base64.StdEncoding.EncodeToString(raw)}, nil
}

// knownNames are what known_hosts may call the host.
func (r Remote) knownNames() []string {
	names := []string{r.Host}
	if r.port() != sshPort {
		names = []string{"[" + r.Host + "]:" + itoa(r.port())}
	}
	return names
}

func isOneOf(names, of []string) bool {
	for _, name := range of {
		for _, n := range names {
			if n == name {
				return true
			}
		}
	}
	return false
}

// helperName is what a credential helper is asked for by git.
const helper = `!f() { test "$1" = get && cat <&3; }; f`

// shown are the texts in which a server may repeat the token: as HTTP Basic has it, and as it is.
func (c Credentials) shown() []string {
	return []string{base64.StdEncoding.EncodeToString([]byte(c.user() + ":" + c.Token)), c.Token}
}

// user is who the token is said to be of.
func (c Credentials) user() string {
	if c.User == "" {
		return "x-access-token" // what GitHub wants, and the others ignore
	}
	return c.User
}

// pipe returns the reading end of a pipe with what the credential helper answers. All of it is in the pipe, whose
// other end is closed.
func (c Credentials) pipe() (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = write.WriteString("username=" + c.user() + "\npassword=" + c.Token + "\n")
	if closed := write.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	return read, nil
}
