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
)

// TestDocs reads all pages: what they show can be typed. Commands of this program are parsed by its own table of
// commands, with their flags and the number of their arguments; they are not run, as what they need is not here.
// TestReadme runs those of README.md, and scripts of test/scripts those of other pages, such as runs.md and
// resources.md. Addresses are held against the routes that api.md lists, which are the router's
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
		"```yaml\na: [\n```", "See `GET /api/v1/nothing`.", "See `PUT /api/v1/whoami`.", "See `/api/v1/nothing`.",
		"See `GET …/-/nothing`.", "See `holdfast nothing`.", "See `holdfast state list --nothing`.", "See `make nothing`.",
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
	blocks, prose := splitPage(text)
	for _, b := range blocks {
		d.line = b.line
		d.block(b)
	}
	for _, p := range prose {
		d.line = p.line
		d.prose(p.text)
	}
}

func (d *docs) saw(what string) {
	if d.counts == nil {
		d.counts = map[string]int{}
	}
	d.counts[what]++
}

// block is one of a page: what is indented, or fenced with a language.
type docBlock struct {
	line     int
	language string
	text     string
}

// paragraph is a line of a page that is in no block.
type paragraph struct {
	line int
	text string
}

func splitPage(page string) (blocks []docBlock, prose []paragraph) {
	var at *docBlock
	end := func() {
		if at != nil {
			deeper := regexp.MustCompile(`^ *`).FindString(at.text)
			at.text = strings.TrimRight(strings.ReplaceAll("\n"+at.text, "\n"+deeper, "\n")[1:], "\n") + "\n"
			blocks, at = append(blocks, *at), nil
		}
	}
	fence, blank, list := "", true, ""
	for n, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		switch {
		case fence != "":
			if trimmed == "```" {
				fence = ""
				end()
			} else {
				at.text += line + "\n"
			}
		case strings.HasPrefix(trimmed, "```"):
			end()
			fence, at = trimmed, &docBlock{line: n + 2, language: strings.TrimPrefix(trimmed, "```")}
		case trimmed == "":
			if at != nil {
				at.text += "\n"
			}
		case at != nil && strings.HasPrefix(line, "    "+list):
			at.text += strings.TrimPrefix(line, "    "+list) + "\n"
		case blank && strings.HasPrefix(line, "    "+list):
			at = &docBlock{line: n + 1, text: strings.TrimPrefix(line, "    "+list) + "\n"}
		default:
			end()
			prose = append(prose, paragraph{n + 1, line})
			if marker := regexp.MustCompile(`^ *(- |[0-9]+\. )`).FindString(line); marker != "" {
				list = strings.Repeat(" ", len(marker))
			} else if indent == "" {
				list = ""
			}
		}
		blank = trimmed == ""
	}
	end()
	return blocks, prose
}

// otherPrograms are commands of others, and the shell's: nothing looks at how they are called.
var otherPrograms = strings.Fields(`age age-keygen apt bash cat cd chmod chown cp cut dnf docker done echo export for
	git go grep gzip head infracost iptables jq kill ls mkdir mv mysql nft npm openssl perf perl printf python3 rm sed
	sha256sum sort sqlite3 ssh ssh-keyscan sudo systemctl tail tar terraform terragrunt tofu tr trivy true until uuidgen
	wc while xargs zstd`)

func (d *docs) block(b docBlock) {
	if at := another.FindStringIndex(b.text); b.language == "" && at != nil && !strings.HasPrefix(b.text, "#") {
		d.block(docBlock{b.line, "", b.text[:at[0]+1]})
		b.text = strings.TrimLeft(b.text[at[0]:], "\n")
	}
	for _, at := range ownHosts.FindAllStringSubmatch(b.text, -1) {
		if path := strings.TrimSuffix(at[1], "/"); path != "" && !d.address("", path) {
			d.fault("there is no route %s", path)
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
	switch {
	case b.language == "mermaid" || b.language == "python" || b.language == "rego" || b.language == "csv":
	case b.language == "" && strings.HasPrefix(first, "─"): // what the program shows
	case b.language == "yaml" || yamlBlock.MatchString(first):
		d.yaml(b.text)
	case b.language == "json" || strings.HasPrefix(first, "{"):
		d.json(b.text)
	case b.language == "hcl" || hclBlock.MatchString(first):
		d.hcl(b.text)
	case b.language == "ini" || strings.HasPrefix(first, "["):
		d.settings(b.text)
	case strings.HasPrefix(first, "# ") && fileName.MatchString(first):
		d.files(b.text)
	case b.language == "" && notForShells.MatchString(first):
		d.saw("other")
	default:
		d.shell(b.text)
	}
}

var (
	ownHosts = regexp.MustCompile(`https?://(?:(?:state|holdfast)\.example\.com|127\.0\.0\.1:7777)(/[^\s"'$?<)]*)`)
	// another begins a part of another kind in a block.
	another   = regexp.MustCompile(`\n\n(\$ |export |[a-z_]+:\n)`)
	yamlBlock = regexp.MustCompile(`^[a-z_]+:( [|>-]?.*)?$`)
	hclBlock  = regexp.MustCompile(`^(terraform|resource|variable|output|provider|module|include|remote_state)\b.*\{|` +
		`^\w+ += "`)
	fileName = regexp.MustCompile(`^# ([\w./-]+\.(yml|yaml|tf|hcl|tfbackend))`)
	// notForShells are first lines of blocks that are no commands and no files: answers and messages.
	notForShells = regexp.MustCompile(`^(RateLimit-|c := client\.New|holdfast\.cfg: \[|SELECT |Syncing |` +
		`decision_url = |event: )`)
)

// files looks at a block of several files, each below a comment with its name.
func (d *docs) files(text string) {
	name, content := "", ""
	end := func() {
		switch filepath.Ext(name) {
		case ".yml", ".yaml":
			d.yaml(content)
		case ".tf", ".hcl", ".tfbackend":
			d.hcl(content)
		}
	}
	for line := range strings.Lines(text) {
		if next := fileName.FindStringSubmatch(line); next != nil {
			end()
			name, content = next[1], ""
			continue
		}
		if command := strings.Fields(line); len(command) > 1 && slices.Contains([]string{"export", "tofu"}, command[0]) {
			end()
			name = ""
		}
		content += line
	}
	end()
}

func (d *docs) yaml(text string) {
	d.saw("yaml")
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		d.fault("no YAML: %v\n%s", err, text)
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

// shell looks at each command of a block. Where there are prompts, the rest is what commands print.
func (d *docs) shell(text string) {
	prompt := regexp.MustCompile(`^[$#] `).FindString(text)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for n := 0; n < len(lines); n++ {
		line := lines[n]
		if prompt != "" {
			command, asked := strings.CutPrefix(strings.TrimSpace(line), prompt)
			if !asked {
				continue
			}
			line = command
		}
		words, whole := lineWords(line)
		for (!whole || strings.HasSuffix(line, "\\")) && n+1 < len(lines) {
			n++
			if whole {
				line = strings.TrimSuffix(line, "\\") + " " + strings.TrimSpace(lines[n])
			} else {
				line += "\n" + lines[n]
			}
			words, whole = lineWords(line)
		}
		d.commands(words, true)
		if strings.HasPrefix(line, "sqlite3 ") && !strings.Contains(line, "'") {
			return // the rest is typed there
		}
	}
}

// lineWords splits a line as a shell does. Operators are words of their own, and so are parts of $(…). It is not whole
// where a quotation goes on.
func lineWords(line string) (words []string, whole bool) {
	var word strings.Builder
	begun, quote := false, rune(0)
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == '"' && r == '\\' && i+1 < len(runes):
			i++
			word.WriteRune(runes[i])
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == '\\' && i+1 < len(runes):
			i++
			begun = true
			word.WriteRune(runes[i])
		case r == '#' && !begun:
			for i+1 < len(runes) && runes[i+1] != '\n' {
				i++
			}
		case r == '$' && i+1 < len(runes) && runes[i+1] == '(':
			begun = true
			word.WriteString("SUBSTITUTED")
			depth, from := 1, i+2
			for i += 2; i < len(runes) && depth > 0; i++ {
				switch runes[i] {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			i--
			inner, _ := lineWords(string(runes[from:i]))
			defer func() { words = append(append(words, ";"), inner...) }()
		case strings.ContainsRune("|&;\n", r):
			end()
			words = append(words, ";")
		case r == '>' || r == '<':
			if n := word.String(); n == "2" || n == "1" {
				word.Reset()
				begun = false
			}
			end()
			words = append(words, ">")
			for i+1 < len(runes) && strings.ContainsRune(">&", runes[i+1]) {
				i++
			}
		case r == ' ' || r == '\t':
			end()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return words, quote == 0
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
			words, _ := lineWords(code)
			d.commands(words, false)
		}
	}
}
