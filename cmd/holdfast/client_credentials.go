package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
)

// The environment of a client.
const (
	envAddr = "HOLDFAST_ADDR"
	envOrg  = "HOLDFAST_ORG"
	envKey  = "HOLDFAST_KEY"

	defaultAddr = "http://127.0.0.1:7777"

	// clientHelp goes into the help of every command that asks a server.
	clientHelp = `The server, the organization and its key come from HOLDFAST_ADDR (default
` + defaultAddr + `), HOLDFAST_ORG and HOLDFAST_KEY in the environment, or from a file
with such lines that only its owner may read (--credentials). A key that Holdfast made
says whose it is, so HOLDFAST_ORG may be left out. There is no flag for the key, because
flags show in process lists.`
)

// clientFlags say which server to ask, and for whom.
type clientFlags struct{ addr, org, credentials string }

func (f *clientFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.addr, "addr", "", "the server's address (default: "+envAddr+", else "+defaultAddr+")")
	cmd.Flags().StringVar(&f.org, "org", "", "the organization's UUID (default: "+envOrg+", else what the key says)")
	cmd.Flags().StringVar(&f.credentials, "credentials", "", "file of mode 0600 with "+envAddr+", "+envOrg+" and "+envKey+", each as NAME=VALUE")
}

// client returns the client that flags, the credentials file and the environment
// describe; the first of them that has a value counts.
func (a *app) client(f clientFlags) (*client, error) {
	given, err := readCredentials(f.credentials)
	if err != nil {
		return nil, err
	}
	pick := func(flag, name string) string {
		for _, value := range []string{flag, given[name], a.getenv(name)} {
			if value != "" {
				return value
			}
		}
		return ""
	}
	addr, key := pick(f.addr, envAddr), pick("", envKey)
	if addr == "" {
		addr = defaultAddr
	}
	if addr, err = readAddress(addr); err != nil {
		return nil, usagef("the server's address: %w", err)
	}
	if key == "" {
		return nil, usagef("there is no key: set %s, or name a file that has it with --credentials", envKey)
	}
	org, err := organizationFor(pick(f.org, envOrg), key)
	if err != nil {
		return nil, err
	}
	c := newClient(addr, org, key)
	c.notes = a.stderr
	return c, nil
}

func organizationFor(text, key string) (uuid.UUID, error) {
	if text == "" {
		org, ok := auth.OrgOfKey(key)
		if !ok {
			return uuid.Nil, usagef("there is no organization: set %s or --org; this key doesn't say whose it is", envOrg)
		}
		return org, nil
	}
	org, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, usagef("the organization is not a UUID: %.50q", text)
	}
	return org, nil
}

// readCredentials reads NAME=VALUE lines; a shell can read the same file.
func readCredentials(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	return parseCredentials(path, text)
}

// readPrivate reads a file with secrets in it, which must be its owner's alone.
func readPrivate(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if err := checkPrivate(path, info); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func checkPrivate(path string, info fs.FileInfo) error {
	if info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o), and it has a key: run chmod 600 %s", path, mode, path)
	}
	return nil
}

func parseCredentials(path, text string) (map[string]string, error) {
	found := map[string]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		switch {
		case !ok || name != envAddr && name != envOrg && name != envKey:
			return nil, fmt.Errorf("%s:%d: %w", path, number, errors.New("not "+envAddr+"=…, "+envOrg+"=… or "+envKey+"=…"))
		default:
			found[name] = strings.Trim(value, `"'`)
		}
	}
	return found, nil
}
