package test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holdfast/holdfast/"

// layers says which of our packages each package may import, by folder: a folder's rule
// holds for the packages below it too, unless they have a rule of their own. cmd joins
// everything, so it has none.
func layers() map[string][]string {
	return map[string][]string{
		"fault": {},
		"agent": {"api", "fault", "agent/archive", "agent/backend", "agent/runlog", "insight/infracost", "internal/ansi",
			"internal/durable", "internal/mask", "internal/sensitive", "runs/changes", "internal/disk", "internal/pause",
			"internal/runenv"},
		"agent/agenttest": {"agent", "api", "fault"},
		"agent/archive":   {"internal/disk"},
		"agent/backend":   {},
		"agent/machine":   {"agent", "agent/sandbox", "agent/shim", "agent/tools", "api", "fault"},
		"agent/remote":    {"agent", "api", "client", "fault"},
		"agent/runlog":    {"internal/pause"},
		"agent/tools":     {"fault", "internal/digest", "internal/disk", "internal/durable", "internal/pause"},
		"engine": {"engine/addr", "engine/apply", "engine/config", "engine/diag", "engine/eval", "engine/oplog",
			"engine/plan", "engine/provider", "engine/provider/builtin", "engine/provider/file", "engine/provider/plugin",
			"engine/statefile", "internal/durable",
			"internal/pause"},
		"engine/hooks": {"engine", "engine/addr", "engine/apply", "engine/diag", "engine/oplog", "engine/plan",
			"engine/provider", "internal/outbound"},
		"engine/addr":  {},
		"engine/diag":  {},
		"engine/mark":  {},
		"engine/oplog": {},
		"engine/statefile": {"engine/addr", "engine/diag", "engine/oplog", "internal/durable",
			"internal/outbound", "internal/pause"},
		"engine/provider":          {"engine/addr", "engine/diag"},
		"engine/provider/fake":     {"engine/provider"},
		"engine/provider/recorded": {"engine/provider"},
		"engine/provider/builtin":  {"engine/provider"},
		"engine/provider/file":     {"engine/addr", "engine/provider", "internal/durable"},
		"engine/provider/plugin": {"engine/addr", "engine/diag", "engine/oplog", "engine/provider",
			"engine/provider/plugin/wire",
			"internal/durable", "internal/pause"},
		"engine/provider/plugin/wire": {},
		"engine/config":               {"engine/addr", "engine/diag", "engine/mark", "engine/provider"},
		"engine/eval":                 {"engine/addr", "engine/config", "engine/diag", "engine/mark", "engine/provider"},
		"engine/plan": {"engine/addr", "engine/config", "engine/diag", "engine/eval", "internal/graph", "engine/mark",
			"engine/oplog", "engine/provider", "engine/statefile", "internal/printable"},
		"engine/debug": {"engine/statefile", "internal/markup", "internal/printable"},
		"engine/apply": {"engine/addr", "engine/config", "engine/diag", "engine/eval", "internal/graph", "engine/mark",
			"engine/oplog", "engine/plan", "engine/provider", "engine/statefile", "internal/pause"},
		"api":             {},
		"web":             {},
		"client":          {"api", "internal/pause", "internal/printable"},
		"internal/linear": {"api", "client", "fault", "state/statemodel"},
		"internal/runworld": {"api", "audit", "auth", "fault", "runs", "runs/token", "seal", "storage/memory",
			"storage/sqldb", "storage/sqlruns", "storage/sqlworkspace"},
		"internal/ansi":       {},
		"internal/model":      {"api"},
		"internal/nocore":     {},
		"internal/when":       {},
		"internal/graph":      {},
		"internal/drawing":    {},
		"internal/digest":     {},
		"internal/bytesize":   {},
		"internal/disk":       {},
		"internal/markup":     {},
		"internal/openapi":    {"internal/markup"},
		"internal/printable":  {},
		"internal/fair":       {},
		"internal/pause":      {},
		"internal/runenv":     {},
		"internal/elsewhere":  {"internal/bucket"},
		"internal/bucket":     {},
		"internal/fuzzkeep":   {"internal/fuzzseeds"},
		"internal/fuzzseeds":  {},
		"internal/killtest":   {},
		"internal/shred":      {"internal/durable", "internal/pause"},
		"internal/turns":      {"fault", "internal/fair"},
		"internal/budget":     {"fault", "internal/fair"},
		"internal/logctx":     {},
		"internal/jsonscan":   {},
		"internal/certs":      {"internal/follow"},
		"configs":             {"internal/certs", "internal/bytesize"},
		"internal/durable":    {},
		"internal/mask":       {},
		"internal/sensitive":  {"api"},
		"internal/lazyregexp": {},
		"internal/plantest":   {},
		"internal/follow":     {},
		"auth":                {"fault", "internal/lazyregexp"},
		"auth/keyring":        {"auth", "internal/lazyregexp"},
		"auth/authfile": {"audit", "auth", "auth/keyring", "state", "internal/bytesize", "internal/durable",
			"internal/follow", "internal/pause"},
		"auth/copies":         {"internal/pause"},
		"auth/lastuse":        {"auth", "auth/keyring", "internal/durable", "internal/follow"},
		"auth/verify":         {"fault", "auth", "auth/keyring"},
		"auth/keys":           {"fault", "audit", "auth", "auth/authfile", "auth/keyring"},
		"auth/session":        {"fault", "audit", "auth", "auth/keyring"},
		"storage/sqlsessions": {"auth/session", "storage/sqldb"},
		"audit":               {"fault", "auth"},
		"runs": {"api", "fault", "auth", "audit", "seal", "internal/budget", "internal/digest",
			"internal/mask", "internal/sensitive", "internal/turns", "agent/backend", "runs/changes", "runs/planfile",
			"runs/plainlog"},
		"runs/plainlog": {"internal/ansi"},
		"projects":      {"api", "auth", "fault", "runs", "state", "workspace"},
		"runs/runstest": {"api", "fault", "auth", "internal/killtest", "internal/suite", "runs"},
		"insight": {"api", "auth", "fault", "insight/cost", "insight/facts", "internal/model", "insight/others",
			"insight/policy", "insight/rules",
			"insight/show", "internal/budget", "internal/turns", "internal/when", "runs"},
		"insight/policy":      {"api", "audit", "auth", "fault", "insight/cost", "insight/rules", "internal/turns"},
		"storage/sqlpolicy":   {"insight/policy", "storage/sqldb", "storage/sqlworkspace"},
		"insight/cost":        {"api", "insight/facts"},
		"insight/infracost":   {"insight/cost", "internal/jsonscan"},
		"insight/others":      {"api", "insight/cost", "insight/infracost", "insight/rules", "internal/jsonscan"},
		"insight/facts":       {"api", "fault", "internal/jsonscan", "runs/changes"},
		"insight/insighttest": {},
		"insight/rules":       {"insight/facts", "internal/jsonscan"},
		"insight/show":        {"api", "internal/printable"},
		"agent/local":         {"agent", "api", "auth", "fault", "runs"},
		"internal/ignore":     {},
		"storage/sqlauth":     {"auth/authfile", "auth/copies", "auth/lastuse", "seal", "storage/sqldb"},
		"storage/sqlnotices":  {"audit", "storage/moving", "storage/sqldb"},
		"storage/sqlruns":     {"fault", "runs", "storage/sqldb", "storage/sqlworkspace"},
		"layers":              {"audit", "auth", "fault", "layers/cron", "layers/relevance", "runs/plainlog"},
		"storage/sqllayers":   {"fault", "layers", "storage/sqldb", "storage/sqlworkspace"},
		"layers/cron":         {},
		"layers/relevance":    {},
		"runs/changes":        {"fault", "internal/jsonscan", "runs/outline"},
		"runs/outline":        {},
		"runs/planfile":       {"fault", "runs/outline"},
		"runs/token":          {"fault", "auth"},
		"oidc":                {"fault", "auth", "auth/keyring"},
		"oidc/oidctest":       {},
		"quota":               {"fault"},
		"internal/folder":     {"api", "internal/ignore"},
		"enclave":             {"internal/graph"},
		"enclave/reconcile":   {"api", "client", "enclave", "internal/folder"},
		"enclave/local": {"api", "enclave", "enclave/reconcile", "internal/durable", "internal/folder",
			"internal/mask"},
		"enclave/managed": {"enclave", "enclave/reconcile", "internal/durable"},
		"enclave/removal": {"api", "audit", "auth", "enclave", "fault", "runs", "state", "workspace"},
		"state": {"fault", "internal/digest", "auth", "audit", "quota", "internal/jsonscan",
			"internal/budget"},
		"state/document":                     {"fault", "internal/jsonscan"},
		"state/statemodel":                   {"fault"},
		"seal":                               {"fault", "internal/durable"},
		"internal/keyservice":                {"seal", "internal/pause"},
		"internal/keyservice/keyservicetest": {},
		"internal/heads":                     {"audit", "internal/outbound"},
		"internal/signingkey":                {"internal/durable"},
		"seal/sealtest":                      {"seal"},
		"internal/outbound":                  {},
		"internal/webhook":                   {"audit", "internal/outbound"},
		"internal/gittest":                   {},
		"repos/gitmirror":                    {"internal/nocore", "internal/outbound", "internal/printable"},
		"live":                               {"audit", "auth", "fault", "internal/turns", "runs"},
		"internal/vitals":                    {},
		"internal/spans":                     {"fault"},
		"repos": {"audit", "auth", "fault", "internal/turns", "repos/forge", "repos/gitmirror",
			"repos/hook", "repos/lfs", "seal"},
		"repos/lfs":        {"internal/outbound"},
		"repos/hook":       {},
		"storage/sqlrepos": {"fault", "repos", "storage/sqldb", "storage/sqlworkspace"},
		"inventory": {"fault", "auth", "audit", "quota", "internal/jsonscan", "internal/budget",
			"internal/turns"},
		"pulls":                 {"api", "audit", "auth", "fault", "insight/show", "repos/forge", "runs"},
		"storage/sqlpulls":      {"pulls", "storage/sqldb"},
		"repos/forge":           {"internal/outbound", "internal/printable"},
		"repos/forge/forgetest": {"repos/forge"},
		"resources": {"fault", "auth", "audit", "state", "state/document", "inventory", "internal/jsonscan",
			"internal/budget", "internal/fair", "internal/turns"},
		"inventory/csvrow":   {"inventory", "internal/jsonscan"},
		"inventory/transfer": {"fault", "inventory", "inventory/csvrow", "internal/jsonscan"},
		"storage": {"seal", "internal/keyservice", "fault", "auth", "state", "inventory", "configs", "storage/memory",
			"storage/readmap",
			"storage/sqlite", "storage/csv", "storage/mysql", "storage/mysqldb", "storage/mysqldump",
			"storage/mysqlstates",
			"storage/sqldb", "storage/sqlitedb", "storage/dual", "storage/notices", "storage/resourceindex", "resources",
			"storage/moving", "storage/schema", "storage/stateengine",
			"auth/copies", "auth/lastuse", "internal/durable", "internal/pause"},
		"storage/moving":    {},
		"storage/backup":    {"internal/durable", "storage/sqlitedb"},
		"storage/mysqldump": {"internal/pause", "storage/moving", "storage/mysqldb"},
		"storage/doctor": {"audit", "configs", "fault", "internal/digest", "runs", "seal", "state", "storage",
			"storage/backup", "storage/moving", "storage/mysqldump", "storage/mysqlstates", "storage/sqldb", "storage/sqlitedb",
			"workspace"},
		"storage/memory":  {"fault", "audit", "state"},
		"storage/readmap": {"fault", "audit", "state", "internal/vitals"},
		"storage/schema":  {},
		"internal/delta":  {},
		"storage/folder":  {},
		"storage/sqlitedb": {"internal/disk", "internal/fair", "storage/folder", "internal/spans", "internal/vitals",
			"internal/pause"},
		"storage/stateengine": {"fault", "audit", "seal", "state", "internal/turns", "internal/delta", "storage/moving"},
		"storage/stateengine/enginetest": {"audit", "internal/killtest", "internal/suite", "seal", "seal/sealtest",
			"state", "storage/stateengine"},
		"storage/sqlite": {"fault", "audit", "seal", "state", "internal/turns", "storage/folder", "storage/schema",
			"storage/sqlitedb", "storage/stateengine", "internal/vitals", "storage/moving"},
		"storage/mysqlstates": {"fault", "audit", "seal", "state", "internal/durable", "internal/turns", "storage/mysqldb",
			"storage/schema", "storage/stateengine", "storage/moving"},
		"storage/notices":       {"audit", "storage/folder", "storage/moving", "storage/schema", "storage/sqlitedb"},
		"storage/resourceindex": {"fault", "internal/turns", "resources", "state", "storage/schema", "storage/sqlitedb"},
		"storage/csv": {"fault", "internal/turns", "inventory", "inventory/csvrow", "internal/jsonscan",
			"storage/folder", "storage/schema", "storage/sqlitedb", "internal/spans", "internal/vitals"},
		"storage/mysql": {"fault", "internal/turns", "inventory", "storage/mysqldb", "storage/schema",
			"internal/spans"},
		"storage/mysqldb": {"storage/schema", "fault"},
		"storage/sqldb": {"fault", "internal/digest", "internal/turns", "seal", "storage/mysqldb", "storage/schema",
			"storage/sqlitedb", "internal/vitals", "storage/moving"},
		"storage/sqlworkspace": {"fault", "audit", "seal", "state", "storage/sqldb", "workspace"},
		"workspace": {"fault", "audit", "auth", "internal/budget", "internal/digest", "internal/when", "seal", "state",
			"internal/runenv"},
		"storage/dual": {"fault", "inventory", "storage/folder", "storage/schema", "storage/sqlitedb",
			"internal/vitals"},
		"internal/suite": {"fault"},
		"state/statetest": {"fault", "auth", "audit", "state", "state/statemodel", "internal/killtest",
			"internal/suite"},
		"inventory/inventorytest": {"fault", "inventory", "internal/killtest", "internal/suite"},
		"middleware": {"api", "fault", "auth", "auth/keyring", "auth/session", "auth/verify", "internal/logctx",
			"internal/budget", "internal/pause", "internal/turns", "internal/spans"},
		"agent/sandbox": {"internal/nocore", "internal/outbound"},
		"agent/shim":    {"agent/sandbox", "internal/durable", "internal/nocore"},
		"bench":         {"bench/sample"},
		"bench/sample":  {},
		"bench/floor":   {},
		"bench/local":   {"bench", "auth", "auth/authfile"},
		"bench/growth":  {"bench", "bench/sample", "bench/local", "auth", "configs", "inventory", "state", "storage"},
		"bench/nodes":   {"bench", "bench/local"},
		"bench/runs":    {},
		"bench/engine": {"engine", "engine/addr", "engine/apply", "engine/plan", "engine/provider", "engine/provider/fake",
			"internal/graph"},
		"bench/logs": {"api", "bench/local", "client"},
		"bench/compare": {"bench", "bench/sample", "bench/floor", "bench/local", "auth", "configs", "handlers",
			"internal/logctx", "middleware", "state", "storage"},
		"handlers": {"api", "fault", "internal/ansi", "runs", "auth", "audit", "state", "state/document",
			"insight", "insight/policy", "inventory", "inventory/csvrow", "internal/budget", "internal/jsonscan",
			"internal/openapi",
			"internal/turns",
			"middleware", "quota", "resources", "workspace", "internal/spans", "internal/vitals", "auth/keyring",
			"auth/session",
			"auth/keys", "oidc", "layers", "live", "enclave/removal", "projects", "pulls", "repos",
			"repos/gitmirror", "repos/hook"},
		"server": {"fault", "api", "agent", "agent/local", "agent/machine", "agent/sandbox", "agent/tools",
			"runs", "runs/token", "storage/sqlruns", "audit", "auth", "auth/authfile", "auth/keyring", "auth/lastuse",
			"auth/verify", "internal/certs", "configs", "handlers", "internal/budget", "internal/disk", "internal/durable",
			"internal/pause",
			"insight", "internal/model", "internal/nocore", "insight/policy", "storage/sqlpolicy",
			"inventory", "middleware", "internal/webhook",
			"oidc", "quota",
			"resources", "seal", "state", "storage", "internal/heads", "internal/signingkey",
			"storage/sqldb", "storage/sqlworkspace", "workspace", "internal/spans", "internal/vitals", "storage/notices",
			"storage/sqlitedb", "storage/folder", "internal/shred", "auth/copies", "storage/sqlauth", "storage/sqlnotices",
			"auth/session", "auth/keys", "storage/sqlsessions", "web", "live", "layers", "storage/sqllayers", "repos",
			"repos/gitmirror", "repos/forge", "repos/hook", "storage/sqlrepos", "pulls", "storage/sqlpulls"},

		"storage/sqlitedb/sqlitetest": {"internal/killtest", "storage/sqlitedb"},
	}
}

// foreign lists what is kept out of a layer: HTTP out of storage and domain, drivers out
// of everything but their engine.
func foreign() map[string][]string {
	http, sql := []string{"net/http", "github.com/gin-gonic"},
		[]string{"database/sql", "modernc.org", "github.com/go-sql-driver"}
	domain := slices.Concat(http, sql)
	return map[string][]string{
		"fault": domain, "seal": domain, "auth": domain, "audit": domain, "quota": domain, "state": domain,
		"workspace": domain, "live": domain, "insight": domain,
		"pulls": domain, "inventory": domain, "resources": domain, "layers": domain,
		"internal/jsonscan": domain,
		"configs":           domain, "internal/certs": domain,
		"storage":    http,
		"api":        domain,
		"client":     slices.Concat(sql, http[1:]), // it asks servers
		"oidc":       slices.Concat(sql, http[1:]), // it asks issuers
		"agent":      slices.Concat(sql, http[1:]), // it asks servers and mirrors
		"enclave":    domain,
		"middleware": sql,
		"handlers":   sql,
	}
}

func TestImportsFollowTheDesign(t *testing.T) {
	seen := map[string]bool{}
	for path, imports := range imports(t) {
		if strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "test") {
			continue
		}
		rule := ruleOf(path)
		if rule == "" {
			t.Errorf("%s has no layer: say in this test what it may import", path)
			continue
		}
		seen[rule] = true
		for _, imported := range imports {
			check(t, path, rule, imported)
		}
	}
	for rule := range layers() {
		if !seen[rule] {
			t.Errorf("the layer %s has no package: drop it from this test", rule)
		}
	}
}

// imports has, of each package of ours, what it imports without its tests.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if path, ours := strings.CutPrefix(fields[0], module); ours {
			all[path] = fields[1:]
		}
	}
	return all
}

func check(t *testing.T, path, rule, imported string) {
	t.Helper()
	if own, ours := strings.CutPrefix(imported, module); ours && !slices.Contains(layers()[rule], own) &&
		!strings.HasPrefix(own, rule+"/") {
		t.Errorf("%s imports %s, which the design does not allow", path, own)
	}
	top, _, _ := strings.Cut(rule, "/")
	for _, prefix := range foreign()[top] {
		if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
			t.Errorf("%s imports %s, which does not belong in %s", path, imported, top)
		}
	}
}

// What a domain needs of auth is who calls, with which rights: neither the file that says
// so, nor the work of checking a key.
func TestDomainsLinkNoKeyCheck(t *testing.T) {
	domains := []string{"auth", "audit", "quota", "state", "inventory", "resources"}
	args := []string{"list", "-deps", "-f", "{{.ImportPath}}"}
	for _, domain := range domains {
		args = append(args, "./../"+domain)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for dependency := range strings.Lines(string(out)) {
		dependency = strings.TrimSpace(dependency)
		for _, kept := range []string{"github.com/fsnotify/fsnotify", "golang.org/x/crypto/bcrypt", module + "auth/"} {
			if strings.HasPrefix(dependency, kept) {
				t.Errorf("one of %v links %s", domains, dependency)
			}
		}
	}
}

// ruleOf is the longest folder with a rule that the package is in.
func ruleOf(path string) string {
	for {
		if _, ok := layers()[path]; ok {
			return path
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return ""
		}
		path = path[:i]
	}
}
