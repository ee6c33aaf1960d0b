package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/docpages"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/resources"
)

// TestDocs reads all pages: what they show can be typed. Commands of this program are parsed by its own table of
// commands, with their flags and the number of their arguments; scripts of test/scripts run them, page by page, and
// TestReadme those of README.md. Addresses are held against the routes that api.md lists, which are the router's
// (TestAPIPageListsEveryRoute), and files against what reads them.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	d := &docs{T: t, routes: readRoutes(t), targets: readTargets(t)}
	decisions, err := filepath.Glob("../../docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(append(pages, decisions...), "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		d.look(filepath.Base(page), string(text))
	}
	for _, fault := range d.faults {
		t.Error(fault)
	}
	for name, least := range map[string]int{"holdfast": 250, "curl": 25, "route": 200, "json": 10, "hcl": 10, "yaml": 5,
		"settings": 6, "keys": 8} {
		if d.counts[name] < least {
			t.Errorf("there are %d of %s, which are too few: is the test blind?", d.counts[name], name)
		}
	}
	t.Logf("looked at %v", d.counts)
}

// Each page in docs/ whose commands nobody runs has a script that does.
func TestPagesAreRun(t *testing.T) {
	scripts, err := filepath.Glob("../../test/scripts/*.txtar")
	pages, failed := filepath.Glob("../../test/scripts/pages/*.txtar")
	if err != nil || failed != nil || len(pages) < 20 {
		t.Fatalf("%d scripts of pages, %v, %v", len(pages), err, failed)
	}
	runs := regexp.MustCompile(`(?m)^(page|example) docs/(\S+)(?: '(.*)')?`)
	run := map[string]string{} // by a page's name: the sections that are run, or "all"
	for _, script := range append(scripts, pages...) {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range runs.FindAllStringSubmatch(string(text), -1) {
			if run[line[2]] = run[line[2]] + line[3]; line[1] == "page" {
				run[line[2]] = "all"
			}
		}
	}
	docsPages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range docsPages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		section, rest := run[filepath.Base(page)], string(text)
		if section == "all" {
			continue
		}
		if before, found, ok := strings.Cut(rest, "\n## "+section+"\n"); ok && section != "" {
			_, behind, _ := strings.Cut(found, "\n## ")
			rest = before + "\n## " + behind
		}
		blocks, _ := docpages.Read(rest)
		for _, b := range blocks {
			if commands := b.Commands(); b.Kind == docpages.Shell && len(commands) > 0 {
				t.Errorf("%s: no script runs %q", filepath.Base(page), commands[0].Text)
			}
		}
	}
}

// What a page may have wrong is found.
func TestDocsFindsFaults(t *testing.T) {
	d := &docs{T: t, routes: readRoutes(t), targets: readTargets(t)}
	for _, wrong := range []string{
		"    holdfast nothing", "    $ holdfast state list --nothing\n    answer", "    holdfast state show",
		"    make nothing",
		"    address = \"https://state.example.com/api/v1/nothing\"",
		"    echo x | holdfast run aply prod/network", "    echo $(holdfast nothing)", "    nothing --at all",
		"    curl -u $ORG:$KEY localhost:7777/api/v1/nothing", "    curl -X PUT $HOLDFAST_ADDR/api/v1/whoami",
		"    curl -d '{}' $HOLDFAST_ADDR/api/v1/whoami", "    [server]\n    nothing = 1", "    [nothing]\n    port = 1",
		"    [11111111-2222-3333-4444-555555555555]\n    nothing = 1", "    {\"a\": }", "    resource \"a\" \"b\" { x = }",
		"```yaml\na: [\n```", "    layers:\n      - nothing: a", "    {\"types\": {\"aws\": {\"a\": {\"nothing\": 1}}}}",
		"See `GET /api/v1/nothing`.", "See `PUT /api/v1/whoami`.", "See `/api/v1/nothing`.",
		"See `GET …/-/nothing`.", "See `holdfast nothing`.", "See `holdfast state list --nothing`.", "See `make nothing`.",
		"1. One.\n\n    $ holdfast state list",
	} {
		d.faults = nil
		d.look("page.md", "Words.\n\n"+wrong+"\n")
		if len(d.faults) != 1 {
			t.Errorf("%q: %q", wrong, d.faults)
		}
	}
}

// docs looks at pages.
type docs struct {
	*testing.T
	routes  []docRoute
	targets map[string]bool // of the Makefile
	page    string
	line    int
	root    *cobra.Command
	counts  map[string]int
	faults  []string
}

func (d *docs) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf("%s:%d: %s", d.page, d.line, fmt.Sprintf(format, args...)))
}

func (d *docs) look(page, text string) {
	d.page = page
	blocks, prose := docpages.Read(text)
	for _, b := range blocks {
		d.line = b.Line
		d.block(b)
	}
	for _, p := range prose {
		d.line = p.Line
		d.prose(p.Text)
	}
}

func (d *docs) saw(what string) {
	if d.counts == nil {
		d.counts = map[string]int{}
	}
	d.counts[what]++
}

// otherPrograms are commands of others, and the shell's: nothing looks at how they are called.
var otherPrograms = strings.Fields(`age age-keygen apt bash cat cd chmod chown cp cut dnf docker done echo export for
	git go grep gzip head infracost iptables jq kill ls mkdir mv mysql nft npm openssl perf perl printf python3 rm sed
	sha256sum sort sqlite3 ssh ssh-keyscan sudo systemctl tail tar terraform terragrunt tofu tr trivy true until uuidgen
	wc while xargs zstd`)

func (d *docs) block(b docpages.Block) {
	for _, at := range ownHosts.FindAllStringSubmatch(b.Text, -1) {
		if path := strings.TrimSuffix(at[1], "/"); path != "" && !d.address("", path) {
			d.fault("there is no route %s", path)
		}
	}
	switch b.Kind {
	case docpages.YAML:
		d.yaml(b.Text)
	case docpages.JSON:
		d.json(b.Text)
	case docpages.HCL:
		d.hcl(b.Text)
	case docpages.Settings:
		d.settings(b.Text)
	case docpages.Other:
		d.saw("other")
	case docpages.Shell:
		for _, c := range b.Commands() {
			d.line = c.Line
			words, _ := docpages.Words(c.Text)
			d.commands(words, true)
		}
	}
}

var ownHosts = regexp.MustCompile(
	`https?://(?:(?:state|holdfast)\.example\.com|127\.0\.0\.1:7777)(/[^\s"'$?<)]*)`)

func (d *docs) yaml(text string) {
	d.saw("yaml")
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		d.fault("no YAML: %v\n%s", err, text)
		return
	}
	if strings.HasPrefix(text, "layers:") {
		if _, err := layers.ParseDeclaration([]byte(text)); err != nil {
			d.fault("no holdfast.yaml: %v\n%s", err, text)
		}
	}
}

func (d *docs) hcl(text string) {
	d.saw("hcl")
	if _, found := hclsyntax.ParseConfig([]byte(text), d.page, hcl.InitialPos); found.HasErrors() {
		d.fault("no HCL: %v\n%s", found, text)
	}
}

var (
	elidedJSON = regexp.MustCompile(`,\s*…|…\s*,|…`)
	quotedText = regexp.MustCompile(`"(\\.|[^"\\])*"`)
)

// json reads values one behind another. What is left out stands as … between them, or in a text.
func (d *docs) json(block string) {
	d.saw("json")
	if strings.HasPrefix(block, `{"types":`) {
		if _, err := resources.ReadRules([]byte(block)); err != nil {
			d.fault("no rules of identity: %v\n%s", err, block)
		}
		return
	}
	var kept []string
	hidden := quotedText.ReplaceAllStringFunc(block, func(s string) string {
		kept = append(kept, s)
		return fmt.Sprintf(`"%d"`, len(kept)-1)
	})
	hidden = elidedJSON.ReplaceAllString(strings.ReplaceAll(hidden, ":…", ":null"), "")
	for decoder := json.NewDecoder(strings.NewReader(hidden)); ; {
		var value any
		err := decoder.Decode(&value)
		if err == io.EOF {
			return
		}
		if err != nil {
			d.fault("no JSON: %v\n%s", err, block)
			return
		}
	}
}

var (
	sectionName = regexp.MustCompile(`(?m)^\[([^\]\n]*)\]`)
	uuids       = regexp.MustCompile(`(?m)^\[[0-9a-f]{8}-`)
	hashes      = regexp.MustCompile(`\$2a\$10\$…`)
)

// settings loads a block as holdfast.cfg, or as auth.cfg.
func (d *docs) settings(text string) {
	name := sectionName.FindStringSubmatch(text)[1]
	switch {
	case name == "Service" || name == "Unit": // systemd's
		return
	case strings.HasPrefix(name, "shredded."):
		d.keys(text)
	case uuids.MatchString(text):
		if !strings.Contains(text, "[11111111-2222-3333-4444-555555555555]") {
			text = "[11111111-2222-3333-4444-555555555555]\n" + text
		}
		d.keys(text)
	default:
		d.saw("settings")
		file := filepath.Join(d.TempDir(), "holdfast.cfg")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			d.Fatal(err)
		}
		_, err := configs.Load(configs.Sources{File: file, Explicit: true})
		if err != nil && !strings.Contains(err.Error(), "no such file") {
			d.fault("the settings are refused: %v", err)
		}
	}
}

func (d *docs) keys(text string) {
	d.saw("keys")
	if !regexp.MustCompile(`(?m)^name\s*=`).MatchString(text) {
		text = strings.Replace(text, "555]\n", "555]\nname = Acme\n", 1)
	}
	text = hashes.ReplaceAllString(text, "$$2a$$10$$"+strings.Repeat("x", 53))
	text = strings.NewReplacer("whsec_…", "whsec_"+strings.Repeat("QUFB", 10), "Bearer …", "Bearer x").Replace(text)
	if _, err := authfile.Parse("auth.cfg", text); err != nil {
		d.fault("the keys are refused: %v\n%s", err, text)
	}
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	elided     = regexp.MustCompile(`^…$|^\.\.\.$`)
)

// commands looks at what is between operators.
func (d *docs) commands(words []string, whole bool) {
	for len(words) > 0 {
		end := slices.Index(words, ";")
		one := words
		if words = nil; end >= 0 {
			one, words = one[:end], one[end+1:]
		}
		for i := 0; i < len(one); i++ { // what goes into files
			if one[i] == ">" {
				one = slices.Delete(slices.Clone(one), i, min(i+2, len(one)))
				i--
			}
		}
		for len(one) > 0 && (assignment.MatchString(one[0]) || one[0] == "sudo" || one[0] == "-u" || one[0] == "!" ||
			one[0] == "then" || one[0] == "do" || one[0] == "exec" || strings.HasPrefix(one[0], "(")) {
			if one[0] == "-u" {
				one = one[1:]
			}
			one = one[1:]
		}
		if len(one) == 0 {
			continue
		}
		switch program := filepath.Base(one[0]); {
		case program == "holdfast":
			d.holdfast(one[1:], whole)
		case program == "curl":
			d.curl(one[1:])
		case program == "make":
			d.make(one[1:])
		case whole && !slices.Contains(otherPrograms, program):
			d.fault("%q is no program that pages name: %q", program, one)
		}
	}
}

// holdfast parses a command line, and does no more.
func (d *docs) holdfast(args []string, whole bool) {
	d.saw("holdfast")
	if d.page == "pulls.md" && !whole && (args[0] == "plan" || args[0] == "apply") {
		return // words of a comment at a pull request
	}
	for i, arg := range args {
		if strings.HasPrefix(arg, "[") { // may be left out
			whole = false
		}
		args[i] = strings.Trim(arg, "[]")
		if elided.MatchString(arg) { // the rest is left to the reader
			args, whole = args[:i], false
			break
		}
	}
	if d.root == nil || whole { // flags that were parsed are remembered
		d.root = newRootCommand(newApp())
		d.root.InitDefaultHelpCmd()
		d.root.InitDefaultCompletionCmd()
	}
	cmd, rest, err := d.root.Find(args)
	if err != nil {
		d.fault("holdfast %s: %v", strings.Join(args, " "), err)
		return
	}
	cmd.InitDefaultHelpFlag()
	if cmd.DisableFlagParsing {
		return
	}
	if err := parseLine(cmd, rest, whole); err != nil {
		d.fault("holdfast %s: %v", strings.Join(args, " "), err)
	}
}

func parseLine(cmd *cobra.Command, rest []string, whole bool) error {
	if !whole { // a flag may be named without its value
		var named []string
		for _, arg := range rest {
			if name, isFlag := strings.CutPrefix(arg, "--"); isFlag {
				name, _, _ = strings.Cut(name, "=")
				if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
					return fmt.Errorf("there is no flag --%s", name)
				}
				continue
			}
			named = append(named, arg)
		}
		if cmd.HasSubCommands() && len(named) > 0 && regexp.MustCompile(`^[a-z]`).MatchString(named[0]) {
			return fmt.Errorf("there is no command %s", named[0])
		}
		return nil
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// readTargets returns what make can make.
func readTargets(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(string(text), -1) {
		targets[match[1]] = true
	}
	return targets
}

func (d *docs) make(args []string) {
	d.saw("make")
	for _, arg := range args {
		if !assignment.MatchString(arg) && !strings.HasPrefix(arg, "-") && !elided.MatchString(arg) && !d.targets[arg] {
			d.fault("make %s: there is no such target", arg)
		}
	}
}

// route is one of the router's.
type docRoute struct {
	method  string
	pattern *regexp.Regexp // of a whole path
}

// below reports whether the route is below a path, whose parts in braces and capitals stand for any.
func (r docRoute) below(path string) bool {
	parts := strings.Split(strings.Trim(r.pattern.String(), "^$"), "/")
	for i, part := range strings.Split(strings.TrimSuffix(path, "/"), "/") {
		if i >= len(parts) || !regexp.MustCompile("^"+parts[i]+"$").MatchString(part) {
			return false
		}
	}
	return true
}

func readRoutes(t *testing.T) (all []docRoute) {
	t.Helper()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile("(?m)^\\| `([A-Z]+) (/[^`]*)` \\|").FindAllStringSubmatch(string(page), -1) {
		var pattern strings.Builder
		for part := range strings.SplitSeq(match[2][1:], "/") {
			pattern.WriteString("/")
			switch {
			case strings.HasPrefix(part, "*"):
				pattern.WriteString(`.+`)
			case strings.HasPrefix(part, ":"):
				// Names of states, workspaces and layers have slashes in them.
				pattern.WriteString(`[^?# ]+`)
			default:
				pattern.WriteString(regexp.QuoteMeta(part))
			}
		}
		all = append(all, docRoute{match[1], regexp.MustCompile("^" + pattern.String() + "$")})
	}
	// Where states of devpro are; the router finds them where no route matches.
	all = append(all, docRoute{"", regexp.MustCompile(`^/[^?# ]+/state/[^?# ]+$`)})
	if len(all) < 100 {
		t.Fatalf("api.md lists %d routes", len(all))
	}
	return all
}

// address reports whether a route takes a path with a method; any, where that is empty.
func (d *docs) address(method, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	tail, cut := strings.CutPrefix(path, "…")
	return slices.ContainsFunc(d.routes, func(r docRoute) bool {
		if method != "" && method != r.method {
			return false
		}
		if !cut {
			return r.pattern.MatchString(path) || method == "" && r.below(path)
		}
		segments := strings.Split(r.pattern.String(), "/")
		for i := range segments { // the end of a route, from any of its parts on
			suffix := "^/" + strings.Join(segments[i:], "/")
			if i > 0 && !strings.ContainsAny(segments[i], "[+") && regexp.MustCompile(suffix).MatchString(tail) {
				return true
			}
		}
		return false
	})
}

var (
	serverAt = regexp.MustCompile(`^(https?://)?(\$HOLDFAST_ADDR|\$U|localhost:7777|127\.0\.0\.1:7777|` +
		`(?:state|holdfast)\.example\.com)(/.*)?$`)
	impliedMethods = map[string]string{"-I": "HEAD", "--head": "HEAD", "-d": "POST", "--data": "POST",
		"--data-binary": "POST",
		"--data-raw":    "POST", "--json": "POST", "-T": "PUT", "--upload-file": "PUT", "-F": "POST"}
)

// curl finds the address among the arguments, and its method.
func (d *docs) curl(args []string) {
	d.saw("curl")
	method, asked := "", []string(nil)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if implied := impliedMethods[arg]; implied != "" && method == "" {
			method = implied
		}
		switch {
		case arg == "-X" || arg == "--request":
			if i++; i < len(args) {
				method = args[i]
			}
		case strings.HasPrefix(arg, "-X"):
			method = arg[2:]
		case arg == "-H" || arg == "-u" || arg == "-d" || arg == "--data-binary" || arg == "-o" ||
			regexp.MustCompile(`^-[a-zA-Z]*[uodT]$`).MatchString(arg):
			i++
		default:
			if at := serverAt.FindStringSubmatch(arg); at != nil {
				path := at[3]
				if at[2] == "$U" {
					path = "/api/v1/state/demo" + path
				}
				asked = append(asked, path)
			}
		}
	}
	if method == "" {
		method = "GET"
	}
	if len(asked) == 0 {
		d.fault("curl asks for no address of the server: %q", args)
	}
	for _, path := range asked {
		if path == "" || !d.address(method, path) {
			d.fault("curl: there is no %s %s", method, path)
		}
	}
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	askedAt  = regexp.MustCompile(`^(?:(GET|HEAD|PUT|POST|PATCH|DELETE|LOCK|UNLOCK) )?` +
		`((?:/(?:api|webhooks|health|livez|readyz|metrics|version|ui)\b|…/)[^\s]*)$`)
	wildcard = regexp.MustCompile(`[*]|\{[^}]*,`)
)

// prose looks at what is written as code in a line.
func (d *docs) prose(line string) {
	if strings.HasPrefix(strings.TrimSpace(line), "$ ") {
		d.fault("a command belongs to the list above it, and is shown as text: %s", line)
	}
	for _, match := range codeSpan.FindAllStringSubmatch(line, -1) {
		code := match[1]
		if at := askedAt.FindStringSubmatch(code); at != nil {
			if wildcard.MatchString(at[2]) || strings.HasSuffix(at[2], "/") && at[1] == "" || strings.Contains(at[2], "//") {
				continue
			}
			d.saw("route")
			if !d.address(at[1], at[2]) {
				d.fault("there is no route %s", code)
			}
			continue
		}
		if strings.HasPrefix(code, "holdfast ") || strings.HasPrefix(code, "make ") {
			words, _ := docpages.Words(code)
			d.commands(words, false)
		}
	}
}
