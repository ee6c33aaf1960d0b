package configs

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/bytesize"
)

// setting is one line of the table: everything there is to know about one setting.
type setting struct {
	section, key string
	env          string
	def          string
	kind         string // what a value is, in one word, for help and documentation
	help         string
	secret       bool // never printed, and without a flag: flags show in process lists
	set          setter
}

// setter parses a value and puts it into its field.
type setter func(*Settings, string) error

// table returns every setting, in the order of the documentation. A new setting's
// environment name is HOLDFAST_ and the flag in capitals; those without the prefix are
// the baseline's names, which keep working.
func table() []setting {
	return slices.Concat(serverTable(), storageTable(), stateTable(), resourcesTable(),
		databaseTable(), authTable(), pageTable(), sealTable(), auditTable(), nodesTable(), limitsTable(),
		runsTable(), repositoriesTable(), insightTable(), toolsTable(),
		logTable())
}

func serverTable() []setting {
	const in = "server"
	return []setting{
		{section: in, key: "host", env: "HOST", def: "127.0.0.1", kind: "host",
			help: "Address to listen on; 0.0.0.0 is every IPv4 interface, :: every interface.",
			set:  into(func(s *Settings) *string { return &s.Server.Host }, parseHost)},
		{section: in, key: "port", env: "PORT", def: "7777", kind: "port",
			help: "Port to listen on; 0 takes any free one.",
			set:  into(func(s *Settings) *int { return &s.Server.Port }, parsePort(0))},
		{section: in, key: "enable_tls", env: "ENABLE_TLS", def: "false", kind: "bool",
			help: "Serve HTTPS; needs tls_cert_file and tls_key_file.",
			set:  into(func(s *Settings) *bool { return &s.Server.EnableTLS }, parseBool)},
		{section: in, key: "tls_cert_file", env: "TLS_CERT_FILE", kind: "file",
			help: "PEM file of the certificate, with its intermediates.",
			set:  into(func(s *Settings) *string { return &s.Server.TLSCertFile }, parseText)},
		{section: in, key: "tls_key_file", env: "TLS_KEY_FILE", kind: "file",
			help: "PEM file of the certificate's private key.",
			set:  into(func(s *Settings) *string { return &s.Server.TLSKeyFile }, parseText)},
		{section: in, key: "client_ca_file", env: "HOLDFAST_CLIENT_CA_FILE", kind: "file",
			help: "PEM file of the authorities whose certificates clients may show; without it, clients are asked for none. " +
				"Only with TLS.",
			set: into(func(s *Settings) *string { return &s.Server.ClientCAFile }, parseText)},
		{section: in, key: "allow_plaintext", env: "HOLDFAST_ALLOW_PLAINTEXT", def: "false", kind: "bool",
			help: "Listen without TLS also where other machines reach it. Not needed with trusted_proxies.",
			set:  into(func(s *Settings) *bool { return &s.Server.AllowPlaintext }, parseBool)},
		{section: in, key: "trusted_proxies", env: "HOLDFAST_TRUSTED_PROXIES", kind: "networks",
			help: "Addresses or CIDR networks, separated by commas, whose X-Forwarded-For is believed; none by default.",
			set:  into(func(s *Settings) *[]netip.Prefix { return &s.Server.TrustedProxies }, parseNetworks)},
		{section: in, key: "public_url", env: "HOLDFAST_PUBLIC_URL", kind: "optional url",
			help: "Address at which people reach the server, such as https://state.example.com: notices have links that begin " +
				"with it. Without it they have none.",
			set: into(func(s *Settings) *string { return &s.Server.PublicURL }, parseOptionalAddress)},
		{section: in, key: "notice_networks", env: "HOLDFAST_NOTICE_NETWORKS", kind: "networks",
			help: "Addresses or CIDR networks, separated by commas, of this machine or of private networks to which notices " +
				"may go too, such as a chat server's or a proxy's; none by default.",
			set: into(func(s *Settings) *[]netip.Prefix { return &s.Server.NoticeNetworks }, parseNetworks)},
		{section: in, key: "shutdown_timeout", env: "HOLDFAST_SHUTDOWN_TIMEOUT", def: "30s", kind: "duration",
			help: "How long requests in flight, and then notices that wait, may take to finish after a signal to stop.",
			set:  into(func(s *Settings) *time.Duration { return &s.Server.ShutdownTimeout }, parseDuration)},
		{section: in, key: "read_header_timeout", env: "HOLDFAST_READ_HEADER_TIMEOUT", def: "10s", kind: "duration",
			help: "How long a client may take to send a request's headers.",
			set:  into(func(s *Settings) *time.Duration { return &s.Server.ReadHeaderTimeout }, parseDuration)},
		{section: in, key: "idle_timeout", env: "HOLDFAST_IDLE_TIMEOUT", def: "2m", kind: "duration",
			help: "How long a connection is kept while its client asks for nothing.",
			set:  into(func(s *Settings) *time.Duration { return &s.Server.IdleTimeout }, parseDuration)},
		{section: in, key: "memory_limit", env: "HOLDFAST_MEMORY_LIMIT", def: "auto", kind: "memory",
			help: "How large the process may get before its garbage collector works harder, as a size; off for no limit. auto " +
				"is GOMEMLIMIT, or else 90 % of what the container or service may have (its cgroup's limit), or else none. It is " +
				"no hard limit: what is in use stays. With less than 256 MiB, garbage is collected whenever the heap has " +
				"doubled; with more, not before it has 64 MiB, and when it has grown by 128 MiB or 15 %, unless GOGC says " +
				"otherwise.",
			set: into(func(s *Settings) *int64 { return &s.Server.MemoryLimit }, parseMemory)},
	}
}

func storageTable() []setting {
	const in = "storage"
	return []setting{
		{section: in, key: "type", env: "STORAGE_TYPE", def: CSV, kind: "engine",
			help: "Where uploads are kept: csv, mysql, postgres, dual (csv and the database) or memory. With memory, state is " +
				"kept in memory too unless state.storage is set.",
			set: into(func(s *Settings) *string { return &s.Storage.Type },
				parseChoice(CSV, MySQL, Postgres, Dual, Memory))},
		{section: in, key: "path", env: "STORAGE_PATH", def: "./data", kind: "folder",
			help: "Folder of all data that Holdfast keeps on disk.",
			set:  into(func(s *Settings) *string { return &s.Storage.Path }, parseName)},
		{section: in, key: "outbox_path", env: "HOLDFAST_OUTBOX_PATH", def: "", kind: "path",
			help: "Folder of dual's outbox, best on another disk: with the CSV files' disk full, uploads then still go to the " +
				"database. Empty means storage.path.",
			set: into(func(s *Settings) *string { return &s.Storage.OutboxPath }, parseText)},
		{section: in, key: "upload_secrets", env: "HOLDFAST_UPLOAD_SECRETS", def: MaskSecrets, kind: "policy",
			help: "What becomes of attributes in uploads that are secrets by their names: mask (\"(masked)\" is kept in their " +
				"place), refuse (the upload is refused) or accept. resources.identity_file says which names those are.",
			set: into(func(s *Settings) *string { return &s.Storage.UploadSecrets },
				parseChoice(MaskSecrets, RefuseSecrets, AcceptSecrets))},
	}
}

func stateTable() []setting {
	const in = "state"
	return []setting{
		{section: in, key: "storage", env: "STATE_STORAGE", def: SQLite, kind: "engine",
			help: "Where state is kept: sqlite (durable, under storage.path), mysql or postgres (the database of [database], " +
				"which several nodes may share) or memory (lost at a restart).",
			set: into(func(s *Settings) *string { return &s.State.Storage }, parseChoice(SQLite, MySQL, Postgres, Memory))},
		{section: in, key: "dialects", env: "HOLDFAST_STATE_DIALECTS", def: strings.Join(AllDialects(), ", "),
			kind: "dialects",
			help: "Whose spellings of states' addresses are understood beside Holdfast's own, separated by commas: partition, " +
				"gitlab, gitea (which is Forgejo's too), nimbolus, devpro; or none. All but partition lead to organizations that " +
				"have an alias in auth.cfg, and nowhere else; see moving.md.",
			set: into(func(s *Settings) *[]string { return &s.State.Dialects }, parseDialects)},
		{section: in, key: "max_bytes", env: "HOLDFAST_STATE_MAX_BYTES", def: "256MiB", kind: "size",
			help: "The largest state that is accepted.",
			set:  into(func(s *Settings) *int64 { return &s.State.MaxBytes }, bytesize.Parse)},
		{section: in, key: "cache_bytes", env: "HOLDFAST_STATE_CACHE_BYTES", def: "256MiB", kind: "size",
			help: "Bound of the in-memory map that serves reads.",
			set:  into(func(s *Settings) *int64 { return &s.State.CacheBytes }, bytesize.Parse)},
		{section: in, key: "memory_bytes", env: "HOLDFAST_STATE_MEMORY_BYTES", def: "1GiB", kind: "size",
			help: "Bound of everything kept when state.storage is memory.",
			set:  into(func(s *Settings) *int64 { return &s.State.MemoryBytes }, bytesize.Parse)},
	}
}

func resourcesTable() []setting {
	const in = "resources"
	return []setting{
		{section: in, key: "identity_file", env: "HOLDFAST_RESOURCES_IDENTITY_FILE", kind: "file",
			help: "JSON file with rules that say which resources are the same real object, beside those that come with " +
				"Holdfast; docs/resources.md describes it.",
			set: into(func(s *Settings) *string { return &s.Resources.IdentityFile }, parseText)},
	}
}

func databaseTable() []setting {
	const in = "database"
	return []setting{
		{section: in, key: "url", env: "DATABASE_URL", kind: "database url", secret: true,
			help: "The database of PostgreSQL: postgres://user:password@host:5432/name?sslmode=verify-full. It has no flag, " +
				"because flags show in process lists. Empty means MySQL's server, which host, port, user, password, name and " +
				"tls say.",
			set: into(func(s *Settings) *Secret { return &s.Database.URL }, parseDatabaseURL)},
		{section: in, key: "host", env: "DB_HOST", def: "127.0.0.1", kind: "host",
			help: "Host of the MySQL-protocol server, or the path of its Unix socket.",
			set:  into(func(s *Settings) *string { return &s.Database.Host }, parseHostOrSocket)},
		{section: in, key: "port", env: "DB_PORT", def: "3306", kind: "port",
			help: "Its port; a Unix socket has none.",
			set:  into(func(s *Settings) *int { return &s.Database.Port }, parsePort(1))},
		{section: in, key: "user", env: "DB_USER", kind: "name",
			help: "The user to connect as.",
			set:  into(func(s *Settings) *string { return &s.Database.User }, parseText)},
		{section: in, key: "password", env: "DB_PASSWORD", kind: "secret", secret: true,
			help: "That user's password. It has no flag, because flags show in process lists.",
			set:  into(func(s *Settings) *Secret { return &s.Database.Password }, parseSecret)},
		{section: in, key: "name", env: "DB_NAME", def: "holdfast", kind: "name",
			help: "The database (schema) to use; it is made when it is missing and the user may.",
			set:  into(func(s *Settings) *string { return &s.Database.Name }, parseName)},
		{section: in, key: "tls", env: "HOLDFAST_DATABASE_TLS", def: TLSPreferred, kind: "mode",
			help: "Encrypt the connection: off; preferred, if the server offers it; required, with a certificate that is good " +
				"for the host; skip-verify, with any certificate.",
			set: into(func(s *Settings) *string { return &s.Database.TLS },
				parseChoice(TLSOff, TLSPreferred, TLSRequired, TLSSkipVerify))},
		{section: in, key: "tls_ca_file", env: "HOLDFAST_DATABASE_TLS_CA_FILE", kind: "file",
			help: "PEM file of the authorities to trust instead of the system's; only when tls is required.",
			set:  into(func(s *Settings) *string { return &s.Database.TLSCAFile }, parseText)},
		{section: in, key: "max_open_conns", env: "HOLDFAST_DATABASE_MAX_OPEN_CONNS", def: "16", kind: "count",
			help: "The most connections that are open at once: for uploads, for runs, for reading states and for changing " +
				"them, each. An organization's uploads take up one, a reader one while it fetches a page; no organization has " +
				"more than about half of them at once, and those that wait get them in turns.",
			set: into(func(s *Settings) *int { return &s.Database.MaxOpenConns }, parseCount)},
		{section: in, key: "max_idle_conns", env: "HOLDFAST_DATABASE_MAX_IDLE_CONNS", def: "16", kind: "count",
			help: "The most connections that are kept while nobody needs them.",
			set:  into(func(s *Settings) *int { return &s.Database.MaxIdleConns }, parseCount)},
		{section: in, key: "conn_max_lifetime", env: "HOLDFAST_DATABASE_CONN_MAX_LIFETIME", def: "5m", kind: "duration",
			help: "How long a connection is used before a new one takes its place, so that nodes move on to servers that " +
				"were added.",
			set: into(func(s *Settings) *time.Duration { return &s.Database.ConnMaxLifetime }, parseDuration)},
		{section: in, key: "connect_timeout", env: "HOLDFAST_DATABASE_CONNECT_TIMEOUT", def: "5s", kind: "duration",
			help: "How long the making of a connection may take.",
			set:  into(func(s *Settings) *time.Duration { return &s.Database.ConnectTimeout }, parseDuration)},
		{section: in, key: "startup_wait", env: "HOLDFAST_DATABASE_STARTUP_WAIT", def: "5m", kind: "wait",
			help: "How long `holdfast data` waits for a server that is not up yet; 0 waits for as long as it takes. `serve` " +
				"waits in the background, without end.",
			set: into(func(s *Settings) *time.Duration { return &s.Database.StartupWait }, parseWait)},
	}
}

func authTable() []setting {
	const in = "auth"
	return []setting{
		{section: in, key: "source", env: "HOLDFAST_AUTH_SOURCE", def: AuthFile, kind: "source",
			help: "Where the organizations and the hashes of their keys are: file, or database, which is the one of " +
				"[database], for several nodes that follow it within a second; `holdfast auth push` brings a file there. See " +
				"operating-nodes.md.",
			set: into(func(s *Settings) *string { return &s.Auth.Source }, parseChoice(AuthFile, AuthDatabase))},
		{section: in, key: "file", env: "HOLDFAST_AUTH_FILE", def: "auth.cfg", kind: "file",
			help: "File with the organizations and the hashes of their keys, where source is file.",
			set:  into(func(s *Settings) *string { return &s.Auth.File }, parseName)},
		{section: in, key: "cache_entries", env: "HOLDFAST_AUTH_CACHE_ENTRIES", def: "10000", kind: "count",
			help: "How many verified keys are remembered, so that bcrypt need not run for each request.",
			set:  into(func(s *Settings) *int { return &s.Auth.CacheEntries }, parseCount)},
		{section: in, key: "cache_ttl", env: "HOLDFAST_AUTH_CACHE_TTL", def: "5m", kind: "duration",
			help: "How long a verified key is remembered. A change of the file forgets it at once.",
			set:  into(func(s *Settings) *time.Duration { return &s.Auth.CacheTTL }, parseDuration)},
		{section: in, key: "failures_per_minute", env: "HOLDFAST_AUTH_FAILURES_PER_MINUTE", def: "10", kind: "count",
			help: "How many wrong credentials one address may send in a minute, or at once; beyond that they are refused " +
				"without being looked at. For one organization it is ten times as many, from all addresses together.",
			set: into(func(s *Settings) *int { return &s.Auth.FailuresPerMinute }, parseCount)},
	}
}

func pageTable() []setting {
	const in = "page"
	return []setting{
		{section: in, key: "session_idle", env: "HOLDFAST_PAGE_SESSION_IDLE", def: "8h", kind: "duration",
			help: "How long somebody stays signed in to the page without a request.",
			set:  into(func(s *Settings) *time.Duration { return &s.Page.SessionIdle }, parseDuration)},
		{section: in, key: "session_limit", env: "HOLDFAST_PAGE_SESSION_LIMIT", def: "24h", kind: "duration",
			help: "How long somebody stays signed in at most.",
			set:  into(func(s *Settings) *time.Duration { return &s.Page.SessionLimit }, parseDuration)},
		{section: in, key: "max_sessions", env: "HOLDFAST_PAGE_MAX_SESSIONS", def: "20", kind: "count",
			help: "How many browsers may be signed in with one key, or as one person; the one that was used longest ago makes " +
				"room for another.",
			set: into(func(s *Settings) *int { return &s.Page.MaxSessions }, parseCount)},
		{section: in, key: "dir", env: "HOLDFAST_PAGE_DIR", kind: "path",
			help: "Folder that the page is read from, again after each `make web`, instead of the one in the program. For those " +
				"who work on the page.",
			set: into(func(s *Settings) *string { return &s.Page.Dir }, parseText)},
		{section: in, key: "oidc_issuer", env: "HOLDFAST_PAGE_OIDC_ISSUER", kind: "optional url",
			help: "Address of an OpenID Connect issuer that signs people in beside keys, exactly as its tokens have it; rules " +
				"for tokens in auth.cfg say whom it lets in, and as what. Needs oidc_client_id and server.public_url.",
			set: into(func(s *Settings) *string { return &s.Page.OIDCIssuer }, parseIssuer)},
		{section: in, key: "oidc_client_id", env: "HOLDFAST_PAGE_OIDC_CLIENT_ID", kind: "text",
			help: "What the issuer calls this server: the audience of those rules.",
			set:  into(func(s *Settings) *string { return &s.Page.OIDCClientID }, parseText)},
		{section: in, key: "oidc_client_secret", env: "HOLDFAST_PAGE_OIDC_CLIENT_SECRET", kind: "secret", secret: true,
			help: "What the server proves to the issuer with that it is that client; empty where it is a public one.",
			set:  into(func(s *Settings) *Secret { return &s.Page.OIDCClientSecret }, parseSecret)},
		{section: in, key: "oidc_name", env: "HOLDFAST_PAGE_OIDC_NAME", def: "single sign-on", kind: "text",
			help: "What the page calls the issuer.",
			set:  into(func(s *Settings) *string { return &s.Page.OIDCName }, parseName)},
		{section: in, key: "oidc_scopes", env: "HOLDFAST_PAGE_OIDC_SCOPES", def: "openid email profile", kind: "text",
			help: "What the issuer is asked to say, separated by blanks; openid has to be among it.",
			set:  into(func(s *Settings) *string { return &s.Page.OIDCScopes }, parseScopes)},
	}
}

func sealTable() []setting {
	const in = "seal"
	return []setting{
		{section: in, key: "master_key_file", env: "HOLDFAST_SEAL_MASTER_KEY_FILE", kind: "file",
			help: "File of the master key, mode 0600, that opens what is kept encrypted; `holdfast init` makes it. Empty " +
				"means master.key in storage.path. On another disk, a copy of the data alone is of no use to a thief.",
			set: into(func(s *Settings) *string { return &s.Seal.MasterKeyFile }, parseText)},
		{section: in, key: "master_keys", env: "HOLDFAST_SEAL_MASTER_KEYS", kind: "secret", secret: true,
			help: "The master keys themselves, for where the environment has secrets: what a master key file has, or its keys of " +
				"64 hexadecimal digits with commas between them, the newest first. Then there is no file.",
			set: into(func(s *Settings) *Secret { return &s.Seal.MasterKeys }, parseSecret)},
		{section: in, key: "key_service", env: "HOLDFAST_SEAL_KEY_SERVICE", kind: "text",
			help: "What wraps the master keys, so that their file is of no use without it: transit (HashiCorp Vault or OpenBao), " +
				"aws, google or azure. It is asked at each start. Empty means that the file has the keys themselves.",
			set: into(func(s *Settings) *string { return &s.Seal.KeyService },
				parseOptionalChoice("transit", "aws", "google", "azure"))},
		{section: in, key: "key", env: "HOLDFAST_SEAL_KEY", kind: "text",
			help: "The service's key that wraps: its mount and name for transit, such as transit/holdfast; its ARN or ID, its " +
				"resource name, or its address for the others.",
			set: into(func(s *Settings) *string { return &s.Seal.Key }, parseText)},
		{section: in, key: "key_address", env: "HOLDFAST_SEAL_KEY_ADDRESS", kind: "text",
			help: "Address of the service. Empty means VAULT_ADDR for transit, and where the others usually are.",
			set:  into(func(s *Settings) *string { return &s.Seal.KeyAddress }, parseText)},
		{section: in, key: "key_namespace", env: "HOLDFAST_SEAL_KEY_NAMESPACE", kind: "text",
			help: "Namespace of transit. Empty means VAULT_NAMESPACE, or none.",
			set:  into(func(s *Settings) *string { return &s.Seal.KeyNamespace }, parseText)},
		{section: in, key: "key_token_file", env: "HOLDFAST_SEAL_KEY_TOKEN_FILE", kind: "file",
			help: "File with the token that the service is shown, read again for each request, so that who renews it replaces " +
				"the file. Empty means VAULT_TOKEN for transit, AWS_ACCESS_KEY_ID and its like for aws, and the machine's " +
				"identity for google and azure.",
			set: into(func(s *Settings) *string { return &s.Seal.KeyTokenFile }, parseText)},
		{section: in, key: "key_ca_file", env: "HOLDFAST_SEAL_KEY_CA_FILE", kind: "file",
			help: "File of certificates that the service's has to be signed by. Empty means the system's.",
			set:  into(func(s *Settings) *string { return &s.Seal.KeyCAFile }, parseText)},
	}
}

func auditTable() []setting {
	const in = "audit"
	return []setting{
		{section: in, key: "head_every", env: "HOLDFAST_AUDIT_HEAD_EVERY", def: "10m", kind: "duration",
			help: "How often the newest entry of each organization's audit log is signed and sent, if it is a new one.",
			set:  into(func(s *Settings) *time.Duration { return &s.Audit.HeadEvery }, parseDuration)},
		{section: in, key: "head_file", env: "HOLDFAST_AUDIT_HEAD_FILE", kind: "file",
			help: "File that signed heads are appended to; where the server can't take away what it wrote. " +
				"`holdfast audit verify --heads` reads it.",
			set: into(func(s *Settings) *string { return &s.Audit.HeadFile }, parseText)},
		{section: in, key: "head_syslog", env: "HOLDFAST_AUDIT_HEAD_SYSLOG", kind: "address",
			help: "Syslog that signed heads go to: udp://host:514, tcp://host:601 or unix:///dev/log.",
			set:  into(func(s *Settings) *string { return &s.Audit.HeadSyslog }, parseText)},
		{section: in, key: "head_webhook", env: "HOLDFAST_AUDIT_HEAD_WEBHOOK", kind: "secret", secret: true,
			help: "Address that signed heads are posted to, as lines of JSON.",
			set:  into(func(s *Settings) *Secret { return &s.Audit.HeadWebhook }, parseSecret)},
		{section: in, key: "key_file", env: "HOLDFAST_AUDIT_KEY_FILE", kind: "file",
			help: "File of the Ed25519 key that heads are signed with, in PEM, made at the first use. Empty means " +
				"audit-key.pem in storage.path.",
			set: into(func(s *Settings) *string { return &s.Audit.KeyFile }, parseText)},
	}
}

func nodesTable() []setting {
	const in = "nodes"
	return []setting{
		{section: in, key: "count", env: "HOLDFAST_NODES_COUNT", def: "1", kind: "count",
			help: "How many nodes share the requests behind a load balancer. Each admits its part of rate_limit, " +
				"state_rate_limit, auth.failures_per_minute and the rates in `auth.cfg`, and at least one request. See " +
				"operating-nodes.md.",
			set: into(func(s *Settings) *int { return &s.Nodes.Count }, parseCount)},
	}
}

func limitsTable() []setting {
	const in = "limits"
	return []setting{
		{section: in, key: "rate_limit", env: "HOLDFAST_RATE_LIMIT", def: "60", kind: "rate",
			help: "Requests a minute to uploads and data, for an organization that `auth.cfg` gives no limit of its own; off " +
				"for no limit. A burst is a minute's worth.",
			set: into(func(s *Settings) *int { return &s.Limits.RateLimit }, parseRate)},
		{section: in, key: "state_rate_limit", env: "HOLDFAST_STATE_RATE_LIMIT", def: "600", kind: "rate",
			help: "The same for requests to states and resources. UNLOCK, and writes with the ID of the lock that is held, " +
				"are only counted. Those who execute its runs have 20 times as much to themselves.",
			set: into(func(s *Settings) *int { return &s.Limits.StateRateLimit }, parseRate)},
		{section: in, key: "state_rate_saved", env: "HOLDFAST_STATE_RATE_SAVED", def: "1m", kind: "wait",
			help: "For how long what an organization does not use of state_rate_limit is saved up, beyond the minute's worth " +
				"of a burst, for what each operation of a client begins and ends with: to read a state, lock it and unlock it. " +
				"With these defaults 1200 of such requests pass at once, 400 plans at once in about a minute. 0s saves nothing.",
			set: into(func(s *Settings) *time.Duration { return &s.Limits.StateRateSaved }, parseWait)},
		{section: in, key: "rate_wait", env: "HOLDFAST_RATE_WAIT", def: "5s", kind: "wait",
			help: "How long a request beyond these limits waits for its turn; one that would wait longer is refused with 429. " +
				"0s refuses at once.",
			set: into(func(s *Settings) *time.Duration { return &s.Limits.RateWait }, parseWait)},
		{section: in, key: "max_in_flight", env: "HOLDFAST_MAX_IN_FLIGHT", def: "100", kind: "count",
			help: "Requests that are worked on at once; at least 2. A tenth is kept for lock holders.",
			set:  into(func(s *Settings) *int { return &s.Limits.MaxInFlight }, parseCountOf(2))},
		{section: in, key: "max_body_bytes", env: "HOLDFAST_MAX_BODY_BYTES", def: "512MiB", kind: "size",
			help: "Bytes of bodies that are in memory at once, whatever for: of requests, of states that are read, compared, " +
				"rolled back or indexed, of configurations and plans, and of what answers are made of; at least twice " +
				"state.max_bytes. A tenth is kept for lock holders, and no organization gets more than twice what is free.",
			set: into(func(s *Settings) *int64 { return &s.Limits.MaxBodyBytes }, bytesize.Parse)},
		{section: in, key: "max_silence", env: "HOLDFAST_MAX_SILENCE", def: "30s", kind: "duration",
			help: "How long a client may pause while it sends a body or takes an answer.",
			set:  into(func(s *Settings) *time.Duration { return &s.Limits.MaxSilence }, parseDuration)},
		{section: in, key: "min_rate", env: "HOLDFAST_MIN_RATE", def: "16KiB", kind: "size",
			help: "How much it must send or take in a second, on average, once max_silence has passed.",
			set:  into(func(s *Settings) *int64 { return &s.Limits.MinRate }, bytesize.Parse)},
		{section: in, key: "max_answer_time", env: "HOLDFAST_MAX_ANSWER_TIME", def: "10m", kind: "duration",
			help: "How long a client may take one answer altogether, however fast; then the connection is cut. Uploads that " +
				"take longer to be read go on with a cursor.",
			set: into(func(s *Settings) *time.Duration { return &s.Limits.MaxAnswerTime }, parseDuration)},
		{section: in, key: "max_connections", env: "HOLDFAST_MAX_CONNECTIONS", def: "auto", kind: "connections",
			help: "Connections that are open at once; at least 16. Beyond that the oldest one goes that never had good " +
				"credentials, first of those that ask for nothing. auto is what the limit of open files leaves when 192 of them, " +
				"or a quarter if that is more, are kept for data; at most 10000. Three quarters may have requests under way, " +
				"shared by the organizations.",
			set: into(func(s *Settings) *int { return &s.Limits.MaxConnections }, parseConnections)},
		{section: in, key: "max_connections_per_address", env: "HOLDFAST_MAX_CONNECTIONS_PER_ADDRESS", def: "auto",
			kind: "connections",
			help: "Connections of one address (of IPv6, of a /48) that never had good credentials; at least 16. auto is a " +
				"quarter of max_connections. Trusted proxies may have any number.",
			set: into(func(s *Settings) *int { return &s.Limits.MaxConnectionsPerAddress }, parseConnections)},
		{section: in, key: "quota", env: "HOLDFAST_QUOTA", def: "auto", kind: "quota",
			help: "How many bytes an organization may have stored, states with their history and uploads together, unless " +
				"`auth.cfg` gives it a quota of its own: a size; auto for twice what is free on the disk beyond disk_reserve, so " +
				"that no organization fills it for the others, and no bound where there are no others; off for no bound.",
			set: into(func(s *Settings) *int64 { return &s.Limits.Quota }, parseQuota)},
		{section: in, key: "disk_reserve", env: "HOLDFAST_DISK_RESERVE", def: "256MiB", kind: "reserve",
			help: "The last part of the disk of storage.path, and of storage.outbox_path, that only lock holders and what " +
				"makes room may use, as a size of 8MiB or more; off for none.",
			set: into(func(s *Settings) *int64 { return &s.Limits.DiskReserve }, parseReserve)},
	}
}

func runsTable() []setting {
	const in = "runs"
	return []setting{
		{section: in, key: "storage", env: "HOLDFAST_RUNS_STORAGE", def: SQLite, kind: "engine",
			help: "Where workspaces and runs are kept: sqlite (runs.db under storage.path; in memory where states are), mysql " +
				"or postgres (the database of [database], which several servers may share) or off, for a server without them. " +
				"Where states are in a database, runs are there too unless this is set.",
			set: into(func(s *Settings) *string { return &s.Runs.Storage }, parseChoice(SQLite, MySQL, Postgres, Off))},
		{section: in, key: "work_path", env: "HOLDFAST_RUNS_WORK_PATH", kind: "path",
			help: "Folder in which the server executes the runs of organizations that have runs_local in auth.cfg. Empty " +
				"means runs in storage.path.",
			set: into(func(s *Settings) *string { return &s.Runs.WorkPath }, parseText)},
		{section: in, key: "address", env: "HOLDFAST_RUNS_ADDRESS", kind: "optional url",
			help: "Where the tools of those runs find this server. Empty means where it listens; with TLS it needs a name " +
				"that is in the certificate.",
			set: into(func(s *Settings) *string { return &s.Runs.Address }, parseOptionalAddress)},
		{section: in, key: "slots", env: "HOLDFAST_RUNS_SLOTS", def: "2", kind: "count",
			help: "How many of them it executes at once.",
			set:  into(func(s *Settings) *int { return &s.Runs.Slots }, parseCount)},
		{section: in, key: "lease", env: "HOLDFAST_RUNS_LEASE", def: "45s", kind: "lease",
			help: "For how long an executor may be silent before it is taken for lost: a plan is then begun again, and an " +
				"apply waits for its executor or for a person. At least 5s; shorter ones notice sooner, and mind slow " +
				"networks more.",
			set: into(func(s *Settings) *time.Duration { return &s.Runs.Lease }, parseLease)},
		{section: in, key: "keep_days", env: "HOLDFAST_RUNS_KEEP_DAYS", def: "365", kind: "count",
			help: "For how many days a run that ended is kept, with its log.",
			set:  into(func(s *Settings) *int { return &s.Runs.KeepDays }, parseCount)},
		{section: in, key: "keep_plan_days", env: "HOLDFAST_RUNS_KEEP_PLAN_DAYS", def: "7", kind: "count",
			help: "For how many days its plan file and what else it made are kept.",
			set:  into(func(s *Settings) *int { return &s.Runs.KeepPlanDays }, parseCount)},
		{section: in, key: "max_log_bytes", env: "HOLDFAST_RUNS_MAX_LOG_BYTES", def: "1GiB", kind: "size",
			help: "How much of a run's log is kept; of a longer one the middle is left out.",
			set:  into(func(s *Settings) *int64 { return &s.Runs.MaxLogBytes }, bytesize.Parse)},
		{section: in, key: "min_sandbox", env: "HOLDFAST_RUNS_MIN_SANDBOX", def: "landlock", kind: "sandbox",
			help: "The least that is closed to the commands of the runs that the server executes, whatever their workspaces " +
				"want: none, weak, landlock or namespaces (see runs-sandbox.md). Where it can't be reached, such runs fail, and say why.",
			set: into(func(s *Settings) *string { return &s.Runs.MinSandbox },
				parseChoice("none", "weak", "landlock", "namespaces"))},
		{section: in, key: "require_closed_network", env: "HOLDFAST_RUNS_REQUIRE_CLOSED_NETWORK", def: "false",
			kind: "bool",
			help: "Execute no run where loopback, link-local and metadata addresses can't be closed to its commands (see " +
				"runs-sandbox.md). Such runs fail, and say why.",
			set: into(func(s *Settings) *bool { return &s.Runs.RequireClosedNetwork }, parseBool)},
		{section: in, key: "max_folder_bytes", env: "HOLDFAST_RUNS_MAX_FOLDER_BYTES", def: "16GiB", kind: "size",
			help: "How much disk a run may use that the server executes: its configuration, what init downloads, its own " +
				"files and output. It is looked at every few seconds; a run that has more is ended.",
			set: into(func(s *Settings) *int64 { return &s.Runs.MaxFolderBytes }, bytesize.Parse)},
		{section: in, key: "max_memory_bytes", env: "HOLDFAST_RUNS_MAX_MEMORY_BYTES", def: "8GiB", kind: "size",
			help: "How much memory a command of such a run may have with all that it starts, where a cgroup can be made for it.",
			set:  into(func(s *Settings) *int64 { return &s.Runs.MaxMemoryBytes }, bytesize.Parse)},
		{section: in, key: "max_cpu_time", env: "HOLDFAST_RUNS_MAX_CPU_TIME", def: "15m", kind: "duration",
			help: "How much of the processors' time the command of a phase of such a run may use with all that it starts. One " +
				"that uses more is interrupted, and killed when its grace is over; the run fails, and says why.",
			set: into(func(s *Settings) *time.Duration { return &s.Runs.MaxCPUTime }, parseDuration)},
		{section: in, key: "infracost", env: "HOLDFAST_RUNS_INFRACOST", kind: "path",
			help: "Program of Infracost, which is then shown the masked plan of such a run and says what it costs. Empty means " +
				"that none is run.",
			set: into(func(s *Settings) *string { return &s.Runs.Infracost }, parseText)},
		{section: in, key: "infracost_key", env: "HOLDFAST_RUNS_INFRACOST_KEY", kind: "secret", secret: true,
			help: "Key that it gets as INFRACOST_API_KEY; best given by the environment.",
			set:  into(func(s *Settings) *Secret { return &s.Runs.InfracostKey }, parseSecret)},
		{section: in, key: "max_waiting", env: "HOLDFAST_RUNS_MAX_WAITING", def: "1000", kind: "count",
			help: "How many runs of an organization may wait at once.",
			set:  into(func(s *Settings) *int { return &s.Runs.MaxWaiting }, parseCount)},
		{section: in, key: "max_working", env: "HOLDFAST_RUNS_MAX_WORKING", def: "20", kind: "count",
			help: "How many runs of an organization may be executed at once.",
			set:  into(func(s *Settings) *int { return &s.Runs.MaxWorking }, parseCount)},
		{section: in, key: "max_runs", env: "HOLDFAST_RUNS_MAX_RUNS", def: "100000", kind: "count",
			help: "How many runs of an organization are on record. Where there are more, those that ended go before their " +
				"time: first those that nobody has executed, then the oldest.",
			set: into(func(s *Settings) *int { return &s.Runs.MaxRuns }, parseCount)},
		{section: in, key: "max_stored_bytes", env: "HOLDFAST_RUNS_MAX_STORED_BYTES", def: "20GiB", kind: "size",
			help: "What the logs and files of an organization's runs may take. Above it no run begins.",
			set:  into(func(s *Settings) *int64 { return &s.Runs.MaxStoredBytes }, bytesize.Parse)},
		{section: in, key: "max_config_bytes", env: "HOLDFAST_RUNS_MAX_CONFIG_BYTES", def: "5GiB", kind: "size",
			help: "What the files of an organization's configurations may take, each counted once.",
			set:  into(func(s *Settings) *int64 { return &s.Runs.MaxConfigBytes }, bytesize.Parse)},
		{section: in, key: "orphan_timeout", env: "HOLDFAST_RUNS_ORPHAN_TIMEOUT", def: "0s", kind: "wait",
			help: "After how long a run whose executor was lost while it applied is ended, though nobody knows whether it " +
				"still applies; what it writes later is kept as a candidate. 0s waits until its executor comes back, is proven " +
				"dead, or somebody resolves the run.",
			set: into(func(s *Settings) *time.Duration { return &s.Runs.OrphanTimeout }, parseWait)},
	}
}

func insightTable() []setting {
	const in = "insight"
	return []setting{
		{section: in, key: "model_url", env: "HOLDFAST_INSIGHT_MODEL_URL", kind: "optional url",
			help: "Address of a language model that puts insights into words, such as https://api.example.com/v1. It is sent names " +
				"of resources and what rules have found, and no values. Empty means that none is asked.",
			set: into(func(s *Settings) *string { return &s.Insight.ModelURL }, parseOptionalAddress)},
		{section: in, key: "model_kind", env: "HOLDFAST_INSIGHT_MODEL_KIND", def: "openai", kind: "kind",
			help: "What the address speaks: openai, as many others do, or gemini.",
			set:  into(func(s *Settings) *string { return &s.Insight.ModelKind }, parseChoice("openai", "gemini"))},
		{section: in, key: "model", env: "HOLDFAST_INSIGHT_MODEL", kind: "text",
			help: "Name of the model there. Needed with an address.",
			set:  into(func(s *Settings) *string { return &s.Insight.Model }, parseText)},
		{section: in, key: "model_key", env: "HOLDFAST_INSIGHT_MODEL_KEY", kind: "secret", secret: true,
			help: "Key that the address is shown; best given by the environment.",
			set:  into(func(s *Settings) *Secret { return &s.Insight.ModelKey }, parseSecret)},
		{section: in, key: "model_timeout", env: "HOLDFAST_INSIGHT_MODEL_TIMEOUT", def: "10s", kind: "duration",
			help: "How long an answer is waited for. After one that failed, none is asked for a minute.",
			set:  into(func(s *Settings) *time.Duration { return &s.Insight.ModelTimeout }, parseDuration)},
		{section: in, key: "model_per_day", env: "HOLDFAST_INSIGHT_MODEL_PER_DAY", def: "200", kind: "number",
			help: "How often the model is asked in a day, by UTC, for all organizations together.",
			set:  into(func(s *Settings) *int { return &s.Insight.ModelPerDay }, parseCount)},
	}
}

func repositoriesTable() []setting {
	const in = "repositories"
	return []setting{
		{section: in, key: "path", env: "HOLDFAST_REPOSITORIES_PATH", kind: "path",
			help: "Folder of this process's mirrors of git repositories, which is a cache. Empty means repositories in " +
				"storage.path.",
			set: into(func(s *Settings) *string { return &s.Repositories.Path }, parseText)},
		{section: in, key: "networks", env: "HOLDFAST_REPOSITORIES_NETWORKS", kind: "networks",
			help: "Addresses or CIDR networks, separated by commas, of this machine or of private networks that repositories " +
				"may be in too; none by default.",
			set: into(func(s *Settings) *[]netip.Prefix { return &s.Repositories.Networks }, parseNetworks)},
		{section: in, key: "allow_http", env: "HOLDFAST_REPOSITORIES_ALLOW_HTTP", def: "false", kind: "bool",
			help: "Let repositories be fetched over http, without TLS, which shows their tokens on the way.",
			set:  into(func(s *Settings) *bool { return &s.Repositories.AllowHTTP }, parseBool)},
		{section: in, key: "ca_file", env: "HOLDFAST_REPOSITORIES_CA_FILE", kind: "file",
			help: "PEM file of authorities that are trusted beside the system's: by git, for the APIs of GitHub, GitLab and the " +
				"like, for notices and decisions, and by what runs on this server fetch.",
			set: into(func(s *Settings) *string { return &s.Repositories.CAFile }, parseText)},
		{section: in, key: "workers", env: "HOLDFAST_REPOSITORIES_WORKERS", def: "4", kind: "count",
			help: "How many repositories are fetched at once, at most half of them of one organization.",
			set:  into(func(s *Settings) *int { return &s.Repositories.Workers }, parseCount)},
		{section: in, key: "max_mirror_bytes", env: "HOLDFAST_REPOSITORIES_MAX_MIRROR_BYTES", def: "2GiB", kind: "size",
			help: "What the mirror of one repository may take. A larger repository is not fetched.",
			set:  into(func(s *Settings) *int64 { return &s.Repositories.MaxBytes }, bytesize.Parse)},
		{section: in, key: "timeout", env: "HOLDFAST_REPOSITORIES_TIMEOUT", def: "15m", kind: "duration",
			help: "How long a fetch may take.",
			set:  into(func(s *Settings) *time.Duration { return &s.Repositories.Timeout }, parseDuration)},
	}
}

func toolsTable() []setting {
	const in = "tools"
	return []setting{
		{section: in, key: "path", env: "HOLDFAST_TOOLS_PATH", kind: "path",
			help: "Folder of the tools that runs execute, and of the providers that they find there. Empty means tools in " +
				"storage.path.",
			set: into(func(s *Settings) *string { return &s.Tools.Path }, parseText)},
		{section: in, key: "allow_download", env: "HOLDFAST_TOOLS_ALLOW_DOWNLOAD", def: "false", kind: "bool",
			help: "Let a run download the version that it needs, if none that is there fits. `holdfast tool download` needs " +
				"no such leave.",
			set: into(func(s *Settings) *bool { return &s.Tools.AllowDownload }, parseBool)},
		{section: in, key: "opentofu_mirror", env: "HOLDFAST_TOOLS_OPENTOFU_MIRROR",
			def: "https://github.com/opentofu/opentofu/releases/download", kind: "url",
			help: "Where OpenTofu is downloaded from: an address with the releases below it, as OpenTofu publishes them.",
			set:  into(func(s *Settings) *string { return &s.Tools.OpenTofuMirror }, parseAddress)},
		{section: in, key: "opentofu_index", env: "HOLDFAST_TOOLS_OPENTOFU_INDEX",
			def: "https://get.opentofu.org/tofu/api.json", kind: "url",
			help: "The list of OpenTofu's versions, as OpenTofu publishes it.",
			set:  into(func(s *Settings) *string { return &s.Tools.OpenTofuIndex }, parseAddress)},
		{section: in, key: "opentofu_key_file", env: "HOLDFAST_TOOLS_OPENTOFU_KEY_FILE", kind: "file",
			help: "OpenPGP public keys, of which one must have signed OpenTofu's checksums; OpenTofu's own is at " +
				"https://get.opentofu.org/opentofu.asc. Without it, no OpenTofu is downloaded.",
			set: into(func(s *Settings) *string { return &s.Tools.OpenTofuKeyFile }, parseText)},
		{section: in, key: "terraform_mirror", env: "HOLDFAST_TOOLS_TERRAFORM_MIRROR",
			def: "https://releases.hashicorp.com/terraform", kind: "url",
			help: "Where Terraform is downloaded from, likewise.",
			set:  into(func(s *Settings) *string { return &s.Tools.TerraformMirror }, parseAddress)},
		{section: in, key: "terraform_index", env: "HOLDFAST_TOOLS_TERRAFORM_INDEX",
			def: "https://releases.hashicorp.com/terraform/index.json", kind: "url",
			help: "The list of Terraform's versions, as HashiCorp publishes it.",
			set:  into(func(s *Settings) *string { return &s.Tools.TerraformIndex }, parseAddress)},
		{section: in, key: "terraform_key_file", env: "HOLDFAST_TOOLS_TERRAFORM_KEY_FILE", kind: "file",
			help: "OpenPGP public keys, of which one must have signed Terraform's checksums; HashiCorp's own is at " +
				"https://www.hashicorp.com/.well-known/pgp-key.txt. Without it, no Terraform is downloaded.",
			set: into(func(s *Settings) *string { return &s.Tools.TerraformKeyFile }, parseText)},
	}
}

func logTable() []setting {
	const in = "log"
	return []setting{
		{section: in, key: "level", env: "HOLDFAST_LOG_LEVEL", def: "info", kind: "level",
			help: "The least level that is logged: debug, info, warn or error.",
			set:  into(func(s *Settings) *slog.Level { return &s.Log.Level }, parseLevel)},
		{section: in, key: "format", env: "HOLDFAST_LOG_FORMAT", def: FormatAuto, kind: "format",
			help: "json, text, or auto, which is text on a terminal and json elsewhere.",
			set:  into(func(s *Settings) *string { return &s.Log.Format }, parseChoice(FormatAuto, FormatJSON, FormatText))},
	}
}

// into joins a parser to the field that takes what it returns. A value that does not
// parse leaves the field alone.
func into[T any](field func(*Settings) *T, parse func(string) (T, error)) setter {
	return func(s *Settings, text string) error {
		v, err := parse(text)
		if err == nil {
			*field(s) = v
		}
		return err
	}
}

// flag returns the name of the setting's flag, which follows from the environment name;
// empty for a secret.
func (s setting) flag() string {
	if s.secret {
		return ""
	}
	name := strings.TrimPrefix(s.env, envPrefix)
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// name returns the setting as an INI file spells it, for messages.
func (s setting) name() string { return "[" + s.section + "] " + s.key }
