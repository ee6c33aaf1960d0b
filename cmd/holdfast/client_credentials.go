package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/client"
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
	cmd.Flags().StringVar(&f.credentials, "credentials", "", "file of mode 0600 with "+envAddr+", "+envOrg+" and "+envKey+
		", each as NAME=VALUE")
}

// credentials say which server to ask, and as whom.
type credentials struct {
	addr string
	org  uuid.UUID
	key  string
}

// credentials returns those that flags, the credentials file and the environment describe; the
// first of them that has a value counts.
func (a *app) credentials(f clientFlags) (found credentials, err error) {
	given, err := readCredentials(f.credentials)
	if err != nil {
		return found, err
	}
	pick := func(flag, name string) string { return cmp.Or(flag, given[name], a.getenv(name)) }
	found.key = pick("", envKey)
	if found.addr, err = readAddress(cmp.Or(pick(f.addr, envAddr), defaultAddr)); err != nil {
		return found, usagef("the server's address: %w", err)
	}
	if found.key == "" {
		return found, usagef("there is no key: set %s, or name a file that has it with --credentials", envKey)
	}
	found.org, err = organizationFor(pick(f.org, envOrg), found.key)
	return found, err
}

// client returns the client of what credentials returns. It tells people why it takes so long.
func (a *app) client(f clientFlags) (*client.Client, error) {
	found, err := a.credentials(f)
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{Address: found.addr, Org: found.org, Key: found.key,
		Retrying: func(reason error, wait time.Duration) {
			fmt.Fprintf(a.stderr, "holdfast: %v; trying again in %s\n", inPlainWords(reason), wait)
		}}), nil
}

func organizationFor(text, key string) (uuid.UUID, error) {
	if text == "" {
		org, ok := auth.OrgOfKey(key)
		if !ok {
			return uuid.Nil, usagef("there is no organization: set %s or --org; this key doesn't say whose it is", envOrg)
		}
		return org, nil
	}
	return parseOrg(text)
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
