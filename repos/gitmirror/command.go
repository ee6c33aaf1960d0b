package gitmirror

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

// waitDelay is how long a killed command's pipes may stay open.
const waitDelay = 10 * time.Second

// setting is one of git's configuration.
type setting struct{ key, value string }

// settings are what every git process gets, whatever the mirror's own file says.
func (m *Mirror) settings() []setting {
	return []setting{
		{"protocol.allow", "never"},
		{"protocol.https.allow", "always"},
		{"protocol.ssh.allow", "always"},
		{"protocol.http.allow", map[bool]string{true: "always", false: "never"}[m.o.AllowHTTP]},
		{"protocol.ext.allow", "never"},
		{"protocol.file.allow", "never"},
		{"core.hooksPath", os.DevNull},
		{"core.fsmonitor", "false"},
		{"core.attributesFile", os.DevNull},
		{"core.excludesFile", os.DevNull},
		{"core.bigFileThreshold", "8m"},
		{"core.packedGitWindowSize", "16m"},
		{"core.packedGitLimit", "256m"},
		{"core.deltaBaseCacheLimit", "32m"},
		{"core.commitGraph", "true"},
		{"pack.threads", "1"},
		{"pack.windowMemory", "64m"},
		{"index.threads", "1"},
		{"transfer.fsckObjects", "true"},
		{"fetch.fsckObjects", "true"},
		// Old versions of git have made these, and nobody can mend them without a new history.
		{"fetch.fsck.badTimezone", "ignore"},
		{"fetch.fsck.missingSpaceBeforeDate", "ignore"},
		{"fetch.fsck.zeroPaddedFilemode", "ignore"},
		{"fetch.recurseSubmodules", "false"},
		{"submodule.recurse", "false"},
		{"transfer.bundleURI", "false"},
		{"fetch.uriProtocols", ""},
		{"http.followRedirects", "false"}, // alternates of the old protocol too
		{"http.lowSpeedLimit", "500"},
		{"http.lowSpeedTime", "60"},
		{"http.sslVerify", "true"},
		{"credential.helper", ""},
		{"credential.interactive", "false"},
		{"gc.auto", "2000"},
		{"gc.autoPackLimit", "40"},
		{"gc.autoDetach", "false"},
		{"gc.writeCommitGraph", "true"},
		{"maintenance.auto", "false"},
		{"log.showSignature", "false"},
		{"i18n.logOutputEncoding", "UTF-8"},
	}
}

// environment is all that a git process gets to know of this one.
func (m *Mirror) environment(extra []setting) []string {
	env := []string{
		"HOME=" + m.home(), "XDG_CONFIG_HOME=" + m.home(), "LANG=C", "LC_ALL=C", "TZ=UTC",
		"GIT_DIR=" + m.gitDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"SSH_ASKPASS_REQUIRE=never", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_PROTOCOL_FROM_USER=0", "GIT_ADVICE=0", "GIT_PAGER=cat", "GIT_EDITOR=false",
	}
	for _, name := range []string{"PATH", "TMPDIR", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY",
		"no_proxy", "ALL_PROXY", "all_proxy", "SystemRoot"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if m.o.inside {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+m.alternates())
	}
	if outbound.Widened(m.o.CAFile) {
		env = append(env, "GIT_SSL_CAINFO="+m.authorities())
	}
	all := append(m.settings(), extra...)
	env = append(env, "GIT_CONFIG_COUNT="+itoa(len(all)))
	for i, s := range all {
		env = append(env, "GIT_CONFIG_KEY_"+itoa(i)+"="+s.key, "GIT_CONFIG_VALUE_"+itoa(i)+"="+s.value)
	}
	return env
}

func itoa(n int) string { return strconv.Itoa(n) }

// command is a git process that is to be.
type command struct {
	*exec.Cmd
	m    *Mirror
	said tail
	ctx  context.Context
	// secrets are what nobody may read that git says: a server may repeat what it was sent.
	secrets []string
}

// git prepares a command. It is killed with all its children when the context ends.
func (m *Mirror) git(ctx context.Context, extra []setting, args ...string) *command {
	c := &command{Cmd: exec.CommandContext(ctx, m.o.Git, args...), m: m, ctx: ctx}
	c.Env, c.Dir = m.environment(extra), m.home()
	c.Stderr, c.WaitDelay = &c.said, waitDelay
	apart(c.Cmd)
	return c
}

// start starts it under its limits.
func (c *command) start(limits Limits) error {
	if err := c.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return newError(NoGit, "the git binary is not installed")
		}
		return err
	}
	return limit(c.Process.Pid, limits)
}

// wait explains how it went.
func (c *command) wait() error {
	err := c.Wait()
	switch {
	case err == nil:
		return nil
	case errors.Is(c.ctx.Err(), context.DeadlineExceeded):
		return newError(TooSlow, "git was not done within the time that it may take")
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	}
	said := c.said.text()
	if said == "" {
		return explain(err.Error())
	}
	for _, secret := range c.secrets {
		said = strings.ReplaceAll(said, secret, "(credentials)")
	}
	return explain(said)
}

// output runs a command whose answer is small.
func (m *Mirror) output(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	c := m.git(ctx, nil, args...)
	c.Stdout = &atMost{to: &out, left: maxAnswer}
	if err := c.start(m.o.Limits); err != nil {
		return "", err
	}
	err := c.wait()
	return strings.TrimSuffix(out.String(), "\n"), err
}

const maxAnswer = 8 << 20

// atMost fails when more is written to it: the command then ends by itself.
type atMost struct {
	to   io.Writer
	left int
}

func (a *atMost) Write(p []byte) (int, error) {
	if a.left -= len(p); a.left < 0 {
		return 0, newError(TooLarge, "git's answer is too long")
	}
	return a.to.Write(p)
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	cut  bool // something came before that
}

const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(p), nil
}

// text is what was kept, from the beginning of a line: the end of one might be that of a secret.
func (t *tail) text() string {
	text := string(t.kept)
	if t.cut {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(text)
}
