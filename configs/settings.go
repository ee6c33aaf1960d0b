// Package configs reads Holdfast's settings: defaults, then holdfast.cfg, then the
// environment, then flags. One table (table.go) says what settings there are; the
// readers, the flags and the documentation all follow it.
//
// Whatever is wrong is reported at once, as a *Faults, so that an operator fixes a
// configuration in one round rather than one fault at a time.
package configs

import (
	"io/fs"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The engines that storage.type and state.storage choose from.
const (
	CSV      = "csv"
	MySQL    = "mysql"
	Postgres = "postgres"
	Off      = "off"
	Dual     = "dual" // CSV and the database
	Memory   = "memory"
	SQLite   = "sqlite"
)

// OnServer reports whether an engine is the database of [database], which several nodes may share.
func OnServer(engine string) bool { return engine == MySQL || engine == Postgres }

// What auth.source chooses from.
const (
	AuthFile     = "file"
	AuthDatabase = "database"
)

// AllDialects returns the names of other servers' spellings of states' addresses.
func AllDialects() []string {
	return []string{"partition", "gitlab", "gitea", "nimbolus", "devpro"}
}

// NoDialects is how none of them is said.
const NoDialects = "none"

// What database.tls chooses from.
const (
	TLSOff        = "off"
	TLSPreferred  = "preferred"
	TLSRequired   = "required"
	TLSSkipVerify = "skip-verify"
)

// The formats of the log.
const (
	FormatAuto = "auto" // text on a terminal, JSON elsewhere
	FormatJSON = "json"
	FormatText = "text"
)

// Settings is everything that an operator can set. It comes from Load.
type Settings struct {
	Server       Server
	Storage      Storage
	State        State
	Resources    Resources
	Database     Database
	Auth         Auth
	Page         Page
	Seal         Seal
	Audit        Audit
	Nodes        Nodes
	Runs         Runs
	Repositories Repositories
	Insight      Insight
	Limits       Limits
	Tools        Tools
	Log          Log

	effective []Effective
	secrets   string
}

// SecretsIn is the settings file that they were read from, where it has a secret; empty for none.
func (s Settings) SecretsIn() string { return s.secrets }

// Server is how Holdfast listens.
type Server struct {
	Host              string
	Port              int // 0 takes any free port
	EnableTLS         bool
	TLSCertFile       string // set and readable when EnableTLS is true
	TLSKeyFile        string // likewise
	ClientCAFile      string // likewise, unless it is empty: clients show no certificates
	AllowPlaintext    bool   // although other machines reach the server
	TrustedProxies    []netip.Prefix
	PublicURL         string         // where people reach it, for links; may be empty
	NoticeNetworks    []netip.Prefix // inner ones that notices may go to
	ShutdownTimeout   time.Duration
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration
	MemoryLimit       int64 // in bytes, AutoMemory or NoMemoryLimit
}

// What a memory limit is that is no size.
const (
	AutoMemory    int64 = 0 // as the environment or the cgroup says
	NoMemoryLimit int64 = math.MaxInt64
)

// Addr returns host and port as net.Listen takes them.
func (s Server) Addr() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// What becomes of secrets in uploads.
const (
	MaskSecrets   = "mask"
	RefuseSecrets = "refuse"
	AcceptSecrets = "accept"
)

// Storage is where uploads go, and the folder of everything that Holdfast keeps.
type Storage struct {
	Type string // CSV, MySQL, Postgres, Dual or Memory
	Path string
	// UploadSecrets is MaskSecrets, RefuseSecrets or AcceptSecrets.
	UploadSecrets string
	// OutboxPath is where dual keeps its outbox; empty means Path.
	OutboxPath string
}

// State is how state is kept. All sizes are in bytes and above zero.
type State struct {
	Storage     string   // SQLite, MySQL, Postgres or Memory
	Dialects    []string // of other servers, that are spoken; see AllDialects
	MaxBytes    int64
	CacheBytes  int64
	MemoryBytes int64
}

// Resources is how the inventory of states and uploads is kept.
type Resources struct {
	IdentityFile string // rules beside those that come with the program; may be empty
}

// Database is the server of all engines that are on one.
type Database struct {
	URL             Secret // of PostgreSQL; empty where the server is MySQL's
	Host            string // a name, an IP address, or the path of a Unix socket
	Port            int
	User            string
	Password        Secret
	Name            string
	TLS             string // TLSOff, TLSPreferred, TLSRequired or TLSSkipVerify
	TLSCAFile       string // only together with TLSRequired
	MaxOpenConns    int
	MaxIdleConns    int
	ConnMaxLifetime time.Duration
	ConnectTimeout  time.Duration
	StartupWait     time.Duration // 0 waits for as long as it takes
}

// Engine is which server the database is on: MySQL or Postgres.
func (d Database) Engine() string {
	if d.URL.Reveal() != "" {
		return Postgres
	}
	return MySQL
}

// Auth is where keys are read from, how long a verified one is remembered, and how often
// one address may be wrong.
type Auth struct {
	Source            string // AuthFile or AuthDatabase
	File              string
	CacheEntries      int
	CacheTTL          time.Duration
	FailuresPerMinute int
}

// Page is how people sign in to the page.
type Page struct {
	SessionIdle  time.Duration // a session ends after so long without a request
	SessionLimit time.Duration // and after so long in any case
	MaxSessions  int           // of one key, or of one person
	Dir          string        // where the page is built; empty for the one in the program
	// With whom people sign in beside keys; nobody where OIDCIssuer is empty.
	OIDCIssuer       string
	OIDCClientID     string
	OIDCClientSecret Secret // empty for a client that has none
	OIDCName         string // for people
	OIDCScopes       string // separated by blanks
}

// Folder is Dir; nil for none.
func (p Page) Folder() fs.FS {
	if p.Dir == "" {
		return nil
	}
	return os.DirFS(p.Dir)
}

// Nodes says how many share the work.
type Nodes struct {
	Count int
}

// Part returns this node's part of a rate that is meant for all nodes together: 0, which is no
// limit, stays 0, and of a limit at least 1 is left.
func (n Nodes) Part(rate int) int {
	if rate <= 0 || n.Count <= 1 {
		return rate
	}
	return max(rate/n.Count, 1)
}

// Seal says where the key is that data is encrypted with.
type Seal struct {
	MasterKeyFile string // empty means a file in Storage.Path
	MasterKeys    Secret // in the place of the file; empty for the file
	KeyService    string // what wraps the master keys of the file; empty for nothing
	Key           string // the service's key that does; the settings below are empty where it is as usual
	KeyAddress    string
	KeyNamespace  string
	KeyTokenFile  string
	KeyCAFile     string
}

// MasterKeyPath returns where the master key file is, or is to be made.
func (s Settings) MasterKeyPath() string {
	if s.Seal.MasterKeyFile != "" {
		return s.Seal.MasterKeyFile
	}
	return filepath.Join(s.Storage.Path, "master.key")
}

// Audit says where the signed heads of the audit log go.
type Audit struct {
	HeadEvery   time.Duration
	HeadFile    string // empty means none, as in the others
	HeadSyslog  string
	HeadWebhook Secret
	KeyFile     string // empty means a file in Storage.Path
}

// AuditKeyPath returns where the key is, or is to be made, that heads of the audit log are signed with.
func (s Settings) AuditKeyPath() string {
	if s.Audit.KeyFile != "" {
		return s.Audit.KeyFile
	}
	return filepath.Join(s.Storage.Path, "audit-key.pem")
}

// Runs says where runs are kept, and how the server executes those that it does itself.
type Runs struct {
	Storage      string // SQLite, MySQL, Postgres or Off
	WorkPath     string // empty means a folder in Storage.Path
	Address      string // of the server, for tools; empty means where it listens
	Slots        int
	Lease        time.Duration // for how long an executor may be silent
	KeepDays     int           // of a run that ended
	KeepPlanDays int           // of its files
	MaxLogBytes  int64
	// What follows is for the server's own executor.
	MinSandbox string // none, weak, landlock or namespaces
	// RequireClosedNetwork refuses commands to which the machine's own addresses can't be closed.
	RequireClosedNetwork bool

	MaxFolderBytes int64         // of a run's folder
	MaxMemoryBytes int64         // of a command
	MaxCPUTime     time.Duration // of a command
	Infracost      string        // a program; empty for none
	InfracostKey   Secret
	// What an organization may have.
	MaxWaiting, MaxWorking, MaxRuns int
	MaxStoredBytes, MaxConfigBytes  int64
	// OrphanTimeout is how long a lost apply is waited for; 0 for as long as it takes.
	OrphanTimeout time.Duration
}

// Insight says which language model puts insights into words.
type Insight struct {
	ModelKind    string // openai or gemini
	ModelURL     string // empty for none
	Model        string
	ModelKey     Secret
	ModelTimeout time.Duration
	ModelPerDay  int // questions
}

// Repositories are git repositories that configurations come from.
type Repositories struct {
	Path      string         // of mirrors; empty means a folder in Storage.Path
	Networks  []netip.Prefix // inner ones that repositories may be in
	AllowHTTP bool           // without TLS
	CAFile    string
	Workers   int   // fetches at once
	MaxBytes  int64 // of one repository's mirror
	Timeout   time.Duration
}

// RepositoryMirrors returns the folder in which repositories are mirrored.
func (s Settings) RepositoryMirrors() string {
	if s.Repositories.Path != "" {
		return s.Repositories.Path
	}
	return filepath.Join(s.Storage.Path, "repositories")
}

// RunsWork returns the folder in which runs are executed.
func (s Settings) RunsWork() string {
	if s.Runs.WorkPath != "" {
		return s.Runs.WorkPath
	}
	return filepath.Join(s.Storage.Path, "runs")
}

// Limits protect organizations from each other. Rates are requests a minute, 0 for no limit.
type Limits struct {
	RateLimit      int // of uploads and data
	StateRateLimit int
	StateRateSaved time.Duration
	RateWait       time.Duration
	MaxInFlight    int   // requests
	MaxBodyBytes   int64 // in flight; at least twice State.MaxBytes
	MaxSilence     time.Duration
	MinRate        int64 // bytes a second
	MaxAnswerTime  time.Duration
	// Of connections; AutoConnections follows the process's limit of open files, or the other.
	MaxConnections           int
	MaxConnectionsPerAddress int
	Quota                    int64 // bytes that an organization may have stored, AutoQuota or NoQuota
	DiskReserve              int64 // bytes of the disk; 0 for none
}

// AutoConnections is a number of connections that is not set.
const AutoConnections = 0

// What a quota is that is no size.
const (
	AutoQuota int64 = 0 // twice what is free on the disk beyond the reserve
	NoQuota   int64 = -1
)

// Tools is where the tools that runs execute are kept, and where they may be had from.
type Tools struct {
	Path             string // empty means a folder in Storage.Path
	AllowDownload    bool   // by runs; a command may always
	OpenTofuMirror   string
	OpenTofuIndex    string
	OpenTofuKeyFile  string // empty means that no OpenTofu is downloaded
	TerraformMirror  string
	TerraformIndex   string
	TerraformKeyFile string // likewise
}

// Log is what is logged, and how it looks.
type Log struct {
	Level  slog.Level
	Format string // FormatAuto, FormatJSON or FormatText
}
