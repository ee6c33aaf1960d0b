package gitmirror

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
	"github.com/holdfast/holdfast/internal/pause"
)

// Source is where a mirror is fetched from, and what of it.
type Source struct {
	Remote      Remote
	Credentials Credentials
	// Branches are names of branches, or patterns with one *: "main", "release/*". A name that isn't there is
	// NotThere, a pattern that nothing matches is fine. What is gone there goes here.
	Branches []string
	// Refs are others, by their whole names, such as refs/pull/7/head. They are kept under the same names.
	Refs []string
	// Aside are refs, by their whole names, and commits, that are kept under numbers instead, for as long as no other one
	// gets the number.
	Aside []Aside
}

// Aside is a ref that is kept under a number.
type Aside struct {
	Ref    string
	Number int
}

// Moved is a branch, or another ref, that a fetch has changed. From or To is empty where it is new or gone.
type Moved struct{ Ref, From, To string }

// Branch returns its name as a branch; empty where it is none.
func (m Moved) Branch() string {
	name, ok := strings.CutPrefix(m.Ref, heads)
	if !ok {
		return ""
	}
	return name
}

// Fetched is what a fetch has brought.
type Fetched struct {
	Moved []Moved
	Bytes int64 // of the whole mirror now
}

const (
	heads      = "refs/heads/"
	watchEvery = 250 * time.Millisecond
	maxWanted  = 1000
)

// Fetch brings what the source has. What is there stays usable while it goes on, and after it failed. Kinds of
// errors: all of them.
func (m *Mirror) Fetch(ctx context.Context, from Source) (Fetched, error) {
	wanted, err := from.refspecs()
	if err != nil {
		return Fetched{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.o.Limits.Fetch)
	defer cancel()
	release, err := m.acquire(ctx)
	if err != nil {
		return Fetched{}, err
	}
	defer release()
	into, err := m.prepare(ctx)
	if err != nil {
		return Fetched{}, err
	}
	before := map[string]string{}
	if m.usable() == nil {
		if before, err = m.refs(ctx); err != nil {
			return Fetched{}, m.failed(ctx, into, err)
		}
	}
	if err := into.fetch(ctx, from, wanted); err != nil {
		return Fetched{}, m.failed(ctx, into, err)
	}
	return m.look(ctx, into, before)
}

// lockPatience is how long the lock of a mirror is waited for that another process holds. A process that is being
// started holds for a moment all that this one has open, also what has just been released.
const (
	lockPatience = 5 * time.Second
	lockLooks    = 10 * time.Millisecond
)

// acquire waits for its turn in this process, and then takes the mirror among processes.
func (m *Mirror) acquire(ctx context.Context) (release func(), err error) {
	select {
	case m.one <- struct{}{}:
	case <-ctx.Done():
		return nil, newError(Busy, "another fetch of this repository goes on")
	}
	file, err := m.takeLock()
	for began := time.Now(); KindOf(err) == Busy && time.Since(began) < lockPatience; file, err = m.takeLock() {
		if pause.For(ctx, lockLooks) != nil {
			break
		}
	}
	if err != nil {
		<-m.one
		return nil, err
	}
	m.held = file
	return func() {
		m.held = nil
		_ = file.Close()
		<-m.one
	}, nil
}

func (m *Mirror) takeLock() (*os.File, error) {
	if err := os.MkdirAll(m.folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(m.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hold(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func (s Source) refspecs() ([]string, error) {
	if err := s.Remote.check(); err != nil {
		return nil, err
	}
	if err := s.Credentials.Check(); err != nil {
		return nil, err
	}
	if n := len(s.Branches) + len(s.Refs) + len(s.Aside); n == 0 || n > maxWanted {
		return nil, newError(AddressInvalid, "a fetch needs 1 to %d branches", maxWanted)
	}
	var all []string
	for _, b := range s.Branches {
		if err := CheckPattern(b); err != nil {
			return nil, err
		}
		all = append(all, "+"+heads+b+":"+heads+b)
	}
	for _, ref := range s.Refs {
		if !strings.HasPrefix(ref, "refs/") || strings.HasPrefix(ref, heads) || CheckBranch(ref) != nil {
			return nil, newError(AddressInvalid, "%.100q is not the whole name of a ref", ref)
		}
		all = append(all, "+"+ref+":"+ref)
	}
	for _, a := range s.Aside {
		if !IsCommit(a.Ref) && (!strings.HasPrefix(a.Ref, "refs/") || CheckBranch(a.Ref) != nil) {
			return nil, newError(AddressInvalid, "%.100q is not the whole name of a ref", a.Ref)
		}
		all = append(all, "+"+a.Ref+":refs/aside/"+itoa(a.Number))
	}
	return all, nil
}

// fetch runs git fetch, and stops it when the mirror grows too large.
func (m *Mirror) fetch(ctx context.Context, from Source, wanted []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	args := append([]string{"fetch", "--quiet", "--no-progress", "--no-tags", "--prune", "--force",
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--no-show-forced-updates",
		"--end-of-options", from.Remote.String()}, wanted...)
	c, closing, err := m.toRemote(ctx, from.Remote, from.Credentials, args...)
	if err != nil {
		return err
	}
	defer closing()
	if err := c.start(m.o.Limits); err != nil {
		return err
	}
	done := make(chan struct{})
	go m.watch(done, cancel)
	err = c.wait()
	close(done)
	if cause := context.Cause(ctx); KindOf(cause) == TooLarge {
		return cause
	}
	if failed, ok := errors.AsType[*Error](err); ok && strings.Contains(failed.Text, missingRef+heads) {
		return m.whichBranches(ctx, from, failed)
	}
	return err
}

// missingRef is how git says that a remote does not have what was asked for by name.
const missingRef = "couldn't find remote ref "

// whichBranches adds which branches the remote has to the error that a branch is not there. When it can't be asked, the
// error is as it was.
func (m *Mirror) whichBranches(ctx context.Context, from Source, failed *Error) error {
	c, closing, err := m.toRemote(ctx, from.Remote, from.Credentials, "ls-remote", "--quiet", "--symref",
		"--end-of-options", from.Remote.String(), "HEAD", heads+"*")
	if err != nil {
		return failed
	}
	defer closing()
	var out bytes.Buffer
	c.Stdout = &atMost{to: &out, left: maxAnswer}
	if err := c.start(m.o.Limits); err != nil || c.wait() != nil {
		return failed
	}
	first, all := "", []string(nil)
	for line := range strings.Lines(out.String()) {
		at, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch head, isHead := strings.CutPrefix(at, "ref: "+heads); {
		case isHead && ref == "HEAD":
			first = head
		case strings.HasPrefix(ref, heads):
			all = append(all, strings.TrimPrefix(ref, heads))
		}
	}
	_, missing, _ := strings.Cut(failed.Text, missingRef+heads)
	missing, _, _ = strings.Cut(missing, ";")
	text := "there is no branch " + missing + "; the repository has "
	switch {
	case len(all) == 0:
		text += "no branch yet"
	case first != "":
		all = slices.DeleteFunc(all, func(b string) bool { return b == first })
		text += strings.Join(append([]string{first + " (its default)"}, all...), ", ")
	default:
		text += strings.Join(all, ", ")
	}
	told := newError(NotThere, "%s", shorten(text))
	if !slices.Contains(all, missing) && missing != first {
		told.Missing = missing
	}
	return told
}

// watch stops a fetch that brings too much, by way of several files.
func (m *Mirror) watch(done <-chan struct{}, stop context.CancelCauseFunc) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticks.C:
			if bytes, err := m.Bytes(); err == nil && bytes > m.o.Limits.Bytes {
				stop(m.tooLarge())
				return
			}
		}
	}
}

func (m *Mirror) tooLarge() error {
	return newError(TooLarge, "the repository has more than %d MiB, which is the limit", m.o.Limits.Bytes>>20)
}

// toRemote prepares a command that talks to a remote, with the credentials beside it.
func (m *Mirror) toRemote(ctx context.Context, r Remote, credentials Credentials,
	args ...string) (*command, func(), error) {
	addresses, err := m.resolve(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if r.Scheme == "ssh" {
		return m.toSSH(ctx, r, credentials, addresses[0], args)
	}
	if r.Scheme == "http" && !m.o.AllowHTTP {
		return nil, nil, newError(AddressInvalid, "the protocol http is not allowed: use https or ssh")
	}
	var extra []setting
	// An address leads nowhere else, and curl can't read one of IPv6 there.
	if _, err := netip.ParseAddr(r.Host); err != nil {
		extra = append(extra, setting{"http.curloptResolve", pin(r, addresses)})
	}
	if credentials.Token == "" {
		return m.holding(m.git(ctx, extra, args...)), func() {}, nil
	}
	// The helper is this host's alone: nobody else is ever told the token.
	c := m.git(ctx, append(extra, setting{"credential." + r.Scheme + "://" + r.authority() + ".helper", helper}), args...)
	read, err := credentials.pipe()
	if err != nil {
		return nil, nil, err
	}
	c.ExtraFiles = append(c.ExtraFiles, read) // descriptor 3
	c.secrets = credentials.shown()
	return m.holding(c), func() { _ = read.Close() }, nil
}

func (m *Mirror) toSSH(ctx context.Context, r Remote, credentials Credentials, address netip.Addr,
	args []string) (*command, func(), error) {
	if len(credentials.KnownHosts) == 0 {
		return nil, nil, newError(HostUnknown, "no key of the host %s is known: give its known hosts", r.Host)
	}
	keys, err := newAgent(credentials, r)
	if err != nil {
		return nil, nil, err
	}
	c := m.git(ctx, nil, args...)
	c.Env = append(c.Env, "GIT_SSH_COMMAND="+keys.command(r, address.String()), "GIT_SSH_VARIANT=ssh")
	return m.holding(c), func() { _ = keys.close() }, nil
}

// holding passes the lock on to a command, so that the mirror is held as long as it lives.
func (m *Mirror) holding(c *command) *command {
	if m.held != nil {
		c.ExtraFiles = append(c.ExtraFiles, m.held)
	}
	return c
}

// resolve returns the addresses that the host may be connected to at.
func (m *Mirror) resolve(ctx context.Context, r Remote) ([]netip.Addr, error) {
	addresses, err := outbound.Resolve(ctx, r.Host, m.o.Allowed)
	if _, refused := errors.AsType[*outbound.RefusedError](err); refused {
		return nil, newError(AddressRefused, "%s is not fetched from: %v", r.Host, err)
	}
	if err != nil {
		return nil, newError(Unreachable, "the host %s can't be resolved", r.Host)
	}
	return addresses, nil
}

// pin says to curl where a host is.
func pin(r Remote, addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
		if a.Is6() {
			texts[i] = "[" + texts[i] + "]"
		}
	}
	return r.Host + ":" + itoa(r.port()) + ":" + strings.Join(texts, ",")
}

func (r Remote) authority() string {
	_, rest, _ := strings.Cut(r.String(), "://")
	authority, _, _ := strings.Cut(rest, "/")
	return authority
}

// failed tidies up after a fetch, and has the next one begin anew where what is there may be the reason.
func (m *Mirror) failed(ctx context.Context, into *Mirror, err error) error {
	if ctx.Err() != nil && KindOf(err) == "" {
		err = newError(TooSlow, "the fetch was stopped")
	}
	var more error
	switch {
	case into != m:
		more = os.RemoveAll(into.gitDir())
	case KindOf(err) == Failed:
		more = errors.Join(m.tidy(), m.doubt())
	case KindOf(err) == TooLarge:
		more = errors.Join(m.tidy(), m.shrink())
	default:
		more = m.tidy()
	}
	if more != nil && KindOf(err) == "" {
		return errors.Join(err, more)
	}
	return err
}

// shrink has the mirror made anew where it may be that old things fill it, and not what came.
func (m *Mirror) shrink() error {
	bytes, err := m.Bytes()
	if err != nil || bytes <= m.o.Limits.Bytes/2 {
		return err
	}
	return m.doubt()
}

// look finds what a fetch has changed, packs what has become many, and has it take the mirror's place.
func (m *Mirror) look(ctx context.Context, into *Mirror, before map[string]string) (Fetched, error) {
	after, err := into.refs(ctx)
	if err != nil {
		return Fetched{}, m.failed(ctx, into, err)
	}
	got := Fetched{Moved: moved(before, after)}
	// What git gc can't is no reason to do without the fetch.
	if err := into.pack(ctx); err != nil {
		_ = into.tidy()
	}
	if got.Bytes, err = into.Bytes(); err != nil {
		return Fetched{}, err
	}
	if got.Bytes > m.o.Limits.Bytes {
		return Fetched{}, m.failed(ctx, into, m.tooLarge())
	}
	return got, m.replace(into)
}

// pack has git pack loose objects and small packs where they have become many.
func (m *Mirror) pack(ctx context.Context) error {
	c := m.holding(m.git(ctx, nil, "gc", "--auto", "--quiet"))
	if err := c.start(m.o.Limits); err != nil {
		return err
	}
	return c.wait()
}
