package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/bytesize"
	"github.com/holdfast/holdfast/internal/outbound"
)

// The environment of an agent; its flags come first.
const (
	envPoolTokenFile = "HOLDFAST_POOL_TOKEN_FILE"
	envAgentWork     = "HOLDFAST_AGENT_WORK"
	envInfracostKey  = "HOLDFAST_RUNS_INFRACOST_KEY"
)

// agentFlags are the settings of an agent.
type agentFlags struct {
	server, tokenFile, work, name, tools, ca, level, sandbox, user string
	slots                                                          int
	maxFolder, maxMemory, infracost                                string
	maxCPU                                                         time.Duration
	closed                                                         bool
	direct                                                         bool
}

func newAgentCommand(a *app) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Execute the runs of a pool on this machine",
		Long: `Claim runs from a server, and plan and apply them here, until SIGINT or SIGTERM. Then nothing
more is claimed, and the agent ends when what goes on has ended. A second signal ends it at
once: plans and applies go on without it, and the next agent with the same --work finds them
and brings their results to the server.

The pool's token is in a file that only its owner may read. With it the agent makes itself
known once; who it is then is kept in --work, which is one agent's alone. Tools are those in
--tools and, at the start, those that PATH has.

` + envAddr + `, ` + envPoolTokenFile + ` and ` + envAgentWork + ` in the environment stand in for --server,
--pool-token-file and --work. Commands get HTTP_PROXY, HTTPS_PROXY and NO_PROXY from there, and
trust whom the agent trusts: what --ca has, SSL_CERT_FILE and SSL_CERT_DIR. They get nothing
else. Infracost alone gets ` + envInfracostKey + `, as INFRACOST_API_KEY.`,
		Example: `  holdfast agent --server https://holdfast.example.com --pool-token-file pool.token --work /var/lib/holdfast-agent
  holdfast agent --server https://holdfast.corp --ca /etc/ssl/corp-ca.pem --pool-token-file pool.token
  holdfast agent --slots 4 --min-sandbox landlock`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runAgent(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "", "the server's address (default "+defaultAddr+")")
	flags.StringVar(&f.tokenFile, "pool-token-file", "", "file with the pool's token")
	flags.StringVar(&f.work, "work", "", "folder for runs (default /var/lib/holdfast-agent)")
	flags.IntVar(&f.slots, "slots", 1, "how many runs may go on at once")
	flags.StringVar(&f.name, "name", "", "the agent's name (default: the machine's)")
	flags.StringVar(&f.tools, "tools", "", "folder of tools (default: tools, in --work)")
	flags.BoolVar(&f.direct, "registry", true, "let providers that the mirror lacks come from their registries")
	flags.StringVar(&f.ca, "ca", "",
		"file with the authorities that sign the server's certificate, in PEM, which commands trust too (default: the system's)")
	flags.StringVar(&f.sandbox, "min-sandbox", "landlock",
		"the least that is closed to commands: none, weak, landlock or namespaces")
	flags.BoolVar(&f.closed, "require-closed-network", false,
		"do not start where loopback, link-local and metadata addresses can't be closed to commands")
	flags.StringVar(&f.user, "user", "",
		"account that commands run as, where the agent is root (default: "+runAccount+", or a number that no account has)")
	flags.StringVar(&f.maxFolder, "max-folder-bytes", "16GiB",
		"how much of the disk a run may use; one that has more is ended")
	flags.StringVar(&f.maxMemory, "max-memory-bytes", "8GiB",
		"how much memory a command may have, where a cgroup can be made for it")
	flags.DurationVar(&f.maxCPU, "max-cpu-time", 15*time.Minute,
		"how much of the processors' time the command of a phase may use; one that uses more is ended")
	flags.StringVar(&f.infracost, "infracost", "",
		"program of Infracost, which is shown masked plans and says what they cost (an absolute path)")
	flags.StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	return cmd
}

// fill takes from the environment, or the defaults, what no flag has.
func (f *agentFlags) fill(a *app) error {
	for _, s := range []struct {
		to       *string
		env, or  string
		required string
	}{
		{&f.server, envAddr, defaultAddr, ""},
		{&f.tokenFile, envPoolTokenFile, "", "--pool-token-file"},
		{&f.work, envAgentWork, "/var/lib/holdfast-agent", ""},
	} {
		if *s.to == "" {
			*s.to = a.getenv(s.env)
		}
		if *s.to == "" {
			*s.to = s.or
		}
		if *s.to == "" {
			return usagef("there is no %s, nor %s in the environment", s.required, s.env)
		}
	}
	if f.slots < 1 {
		return usagef("--slots: it is below one")
	}
	if f.tools == "" {
		f.tools = filepath.Join(f.work, "tools")
	}
	for _, path := range []*string{&f.work, &f.tools} { // commands are started in other folders
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	if f.name == "" {
		f.name, _ = os.Hostname()
	}
	return nil
}

// runAgent executes runs until the context ends, and those that it has to their end.
func (a *app) runAgent(ctx context.Context, f agentFlags) error {
	if err := f.fill(a); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return usagef("--log-level: %v", err)
	}
	log := newLogger(a.stderr, configs.Log{Level: level, Format: configs.FormatAuto})
	settings, err := a.agentSettings(ctx, f, log)
	if err != nil {
		return err
	}
	executor, err := agent.New(settings)
	if err != nil {
		return err
	}
	// The first signal drains. The second one is the system's: it ends the process, and the
	// shims, which have sessions of their own, go on.
	defer context.AfterFunc(ctx, executor.Drain)()
	log.InfoContext(ctx, "the agent starts", "server", f.server, "work", f.work, "slots", f.slots, "sandbox",
		settings.Commands.Sandbox().Level)
	return executor.Run(context.WithoutCancel(ctx))
}

func (a *app) agentSettings(ctx context.Context, f agentFlags, log *slog.Logger) (agent.Settings, error) {
	token, err := readPrivate(f.tokenFile)
	if err != nil {
		return agent.Settings{}, err
	}
	least, err := sandbox.ParseLevel(f.sandbox)
	if err != nil {
		return agent.Settings{}, usagef("--min-sandbox: %v", err)
	}
	owner, err := accountOf(f.user)
	if err == nil && owner == nil && os.Geteuid() == 0 {
		owner, err = usualUser(f.work, accountOf)
	}
	if err != nil {
		return agent.Settings{}, err
	}
	maxFolder, err := bytesize.Parse(f.maxFolder)
	if err != nil {
		return agent.Settings{}, usagef("--max-folder-bytes: %v", err)
	}
	maxMemory, err := bytesize.Parse(f.maxMemory)
	if err != nil {
		return agent.Settings{}, usagef("--max-memory-bytes: %v", err)
	}
	tokenFile, err := filepath.Abs(f.tokenFile)
	if err != nil {
		return agent.Settings{}, err
	}
	if f.maxCPU <= 0 {
		return agent.Settings{}, usagef("--max-cpu-time: it is not above zero")
	}
	commands, err := machine.NewCommands(ctx,
		machine.CommandSettings{Work: f.work, Shims: true, Private: []string{tokenFile}, Least: least,
			Limits: sandbox.Limits{Memory: uint64(maxMemory), CPU: f.maxCPU}, User: owner,
			Network: sandbox.Network{Allow: reachable(ctx, f.server), RequireClosed: f.closed}})
	if err != nil {
		return agent.Settings{}, err
	}
	reached := commands.Sandbox()
	switch {
	case !agent.Reaches(reached.Level, least.String()):
		return agent.Settings{},
			fmt.Errorf("the sandbox reaches %s here, and --min-sandbox wants %s: %s", reached.Level, least,
				strings.Join(reached.Why, "; "))
	case f.closed && reached.Network != "closed":
		return agent.Settings{}, fmt.Errorf("loopback and metadata addresses can't be closed to commands here, and "+
			"--require-closed-network wants that: %s", strings.Join(reached.Why, "; "))
	}
	if err := hidden(f, reached.Level, owner); err != nil {
		return agent.Settings{}, err
	}
	store := tools.New(tools.Settings{Root: f.tools})
	if _, err := store.FindOnPath(ctx, a.getenv("PATH")); err != nil {
		log.WarnContext(ctx, "the tools on PATH can't be added", "error", err)
	}
	sender, ca, err := agentHTTP(f.ca)
	if err != nil {
		return agent.Settings{}, err
	}
	authorities, err := outbound.Bundle(f.ca)
	if err != nil {
		return agent.Settings{}, err
	}
	return agent.Settings{
		Server:       remote.New(client.New(client.Options{Address: f.server, HTTP: sender})),
		Presentation: api.AgentRegistration{Name: f.name, Version: version, System: runtime.GOOS + "_" + runtime.GOARCH},
		PoolToken:    strings.TrimSpace(token),
		Work:         f.work, Slots: f.slots, Address: f.server, CACertificate: ca, Authorities: authorities,
		Proxies: a.proxies(),
		Tools: machine.Tools{Store: store, Cache: filepath.Join(f.work, "providers"), Direct: f.direct,
			Engine: machine.Engine{Version: version, Args: engineClient()}},
		Commands: commands, MinSandbox: least.String(), MaxFolderBytes: maxFolder, User: owner, Log: log,
		Infracost: agent.Infracost{Path: f.infracost, Key: a.getenv(envInfracostKey)},
	}, nil
}

// runAccount is the account that packages make for the commands of runs.
const runAccount = "holdfast-run"

// Numbers of users that no account has: systemd gives them to services for as long as these run.
const (
	firstDynamicUser = 61184
	dynamicUsers     = 65520 - firstDynamicUser
)

// usualUser is whom an agent that is root has commands run as where no account is named: as root they would own what
// the agent has. It is the account that packages make, else a number that no account has, the same one for a work
// folder each time. It is nil, for root, where others can't get to the work folder.
func usualUser(work string, find func(string) (*agent.User, error)) (*agent.User, error) {
	if packaged, err := find(runAccount); err == nil {
		return packaged, nil
	}
	work, err := filepath.Abs(work)
	if err != nil {
		return nil, err
	}
	if closedFolder(filepath.Dir(work)) != "" {
		return nil, nil
	}
	hash := fnv.New32a()
	hash.Write([]byte(work))
	for n := range uint32(dynamicUsers) {
		id := firstDynamicUser + int((hash.Sum32()+n)%dynamicUsers)
		if taken, _ := find(strconv.Itoa(id)); taken == nil {
			return &agent.User{UID: id, GID: id}, nil
		}
	}
	return nil, nil
}

// closedFolder is the one on the way to a path that keeps others from it, or the path itself; empty where none does.
func closedFolder(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o001 == 0 {
			return path
		}
		above := filepath.Dir(path)
		if above == path {
			return ""
		}
		path = above
	}
}

// hidden says which of an agent's folders commands with a user of their own can't get to. Namespaces show them each
// folder by itself; without them each run would fail. The way below the work folder is opened for each run.
func hidden(f agentFlags, level string, owner *agent.User) error {
	if owner == nil || agent.Reaches(level, sandbox.Namespaces.String()) {
		return nil
	}
	for flag, folder := range map[string]string{"work": filepath.Dir(f.work), "tools": f.tools} {
		if closed := closedFolder(folder); closed != "" && closed != f.work {
			return fmt.Errorf("commands run as user %d, who can't get through %s to --%s: let others pass it (chmod o+x), "+
				"name another folder, or install bubblewrap", owner.UID, closed, flag)
		}
	}
	return nil
}

// accountOf finds an account by its name or number; nil for an empty name.
func accountOf(name string) (*agent.User, error) {
	if name == "" {
		return nil, nil
	}
	found, err := user.Lookup(name)
	if err != nil {
		if found, err = user.LookupId(name); err != nil {
			return nil, usagef("--user: there is no account %.100q", name)
		}
	}
	uid, err := strconv.Atoi(found.Uid)
	if err != nil {
		return nil, usagef("--user: %v", err)
	}
	gid, err := strconv.Atoi(found.Gid)
	if err != nil {
		return nil, usagef("--user: %v", err)
	}
	return &agent.User{UID: uid, GID: gid}, nil
}

// reachable is what commands must reach where the network is closed to them: the server. An
// address that can't be found now is none that would be closed.
func reachable(ctx context.Context, server string) (all []netip.AddrPort) {
	at, err := url.Parse(server)
	if err != nil {
		return nil
	}
	port := map[string]uint16{"http": 80, "https": 443}[at.Scheme]
	if n, err := strconv.ParseUint(at.Port(), 10, 16); err == nil {
		port = uint16(n)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Hostname())
	if err != nil {
		return nil
	}
	for _, ip := range found {
		all = append(all, netip.AddrPortFrom(ip.Unmap(), port))
	}
	return all
}

// agentHTTP returns what asks a server whose certificate these have signed; nil for the usual.
func agentHTTP(path string) (sender *http.Client, pem string, err error) {
	if path == "" {
		return nil, "", nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, "", fmt.Errorf("%s has no certificate in PEM", path)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: transport}, string(raw), nil
}

// proxies are the environment variables about proxies that are set.
func (a *app) proxies() map[string]string {
	found := map[string]string{}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
		if value := a.getenv(name); value != "" {
			found[name] = value
		}
	}
	return found
}
