// Package docpages reads the pages of docs/ for the tests that hold them against the product: which of a page's blocks
// are commands and which are files, and of what kind.
package docpages

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Kind is what a block of a page holds.
type Kind string

// Kinds of blocks.
const (
	Shell    Kind = "shell" // commands, with what they print where they stand behind prompts
	YAML     Kind = "yaml"
	JSON     Kind = "json"
	HCL      Kind = "hcl"
	Settings Kind = "ini"
	Other    Kind = "other" // what the program shows, and languages that nothing of ours reads
)

// Block is a part of a page that is no prose: indented, or fenced with a language.
type Block struct {
	Line int
	Kind Kind
	Name string // of the file, where the page names it; empty otherwise
	Text string
}

// Prose is a line of a page that is in no block.
type Prose struct {
	Line int
	Text string
}

// Read splits a page.
func Read(page string) (blocks []Block, prose []Prose) {
	raw, prose := split(page)
	for _, b := range raw {
		blocks = append(blocks, b.parts()...)
	}
	return blocks, prose
}

type rawBlock struct {
	line     int
	language string
	text     string
}

func split(page string) (blocks []rawBlock, prose []Prose) {
	var at *rawBlock
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
			fence, at = trimmed, &rawBlock{line: n + 2, language: strings.TrimPrefix(trimmed, "```")}
		case trimmed == "":
			if at != nil {
				at.text += "\n"
			}
		case at != nil && strings.HasPrefix(line, "    "+list):
			at.text += strings.TrimPrefix(line, "    "+list) + "\n"
		case blank && strings.HasPrefix(line, "    "+list):
			at = &rawBlock{line: n + 1, text: strings.TrimPrefix(line, "    "+list) + "\n"}
		default:
			end()
			prose = append(prose, Prose{n + 1, line})
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

var (
	// another begins a part of another kind in a block.
	another   = regexp.MustCompile(`\n\n(\$ |export |[a-z_]+:\n)`)
	yamlBlock = regexp.MustCompile(`^[a-z_]+:( [|>-]?.*)?$`)
	hclBlock  = regexp.MustCompile(`^(terraform|resource|variable|output|provider|module|include|remote_state)\b.*\{|` +
		`^\w+ += "`)
	fileName = regexp.MustCompile(`^# ([\w./-]+\.(yml|yaml|tfbackend|tf|hcl))\b`)
	// notForShells are first lines of blocks that are no commands and no files: answers and messages.
	notForShells = regexp.MustCompile(`^(RateLimit-|c := client\.New|holdfast\.cfg: \[|SELECT |Syncing |` +
		`decision_url = |event: |─)`)
)

func (b rawBlock) parts() []Block {
	if at := another.FindStringIndex(b.text); b.language == "" && at != nil && !strings.HasPrefix(b.text, "#") {
		first := rawBlock{b.line, "", b.text[:at[0]+1]}
		rest := strings.TrimLeft(b.text[at[0]:], "\n")
		below := rawBlock{b.line + strings.Count(b.text[:len(b.text)-len(rest)], "\n"), "", rest}
		return append(first.parts(), below.parts()...)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
	kind := Shell
	switch {
	case b.language == "yaml" || b.language == "" && yamlBlock.MatchString(first):
		kind = YAML
	case b.language == "json" || b.language == "" && strings.HasPrefix(first, "{"):
		kind = JSON
	case b.language == "hcl" || b.language == "" && hclBlock.MatchString(first):
		kind = HCL
	case b.language == "ini" || b.language == "" && strings.HasPrefix(first, "["):
		kind = Settings
	case fileName.MatchString(first):
		return b.files()
	case b.language != "" && b.language != "sh", notForShells.MatchString(first):
		kind = Other
	}
	return []Block{{Line: b.line, Kind: kind, Text: b.text}}
}

// files splits a block of several files, each below a comment with its name; commands may follow.
func (b rawBlock) files() (all []Block) {
	kinds := map[string]Kind{".yml": YAML, ".yaml": YAML, ".tf": HCL, ".hcl": HCL, ".tfbackend": HCL}
	n := b.line
	for line := range strings.Lines(b.text) {
		command := strings.Fields(line)
		switch next := fileName.FindStringSubmatch(line); {
		case next != nil:
			all = append(all, Block{Line: n + 1, Kind: kinds[filepath.Ext(next[1])], Name: next[1]})
		case len(command) > 1 && (command[0] == "export" || command[0] == "tofu") && all[len(all)-1].Kind != Shell:
			all = append(all, Block{Line: n, Kind: Shell, Text: line})
		default:
			all[len(all)-1].Text += line
		}
		n++
	}
	return all
}

// Command is one of a block of commands: a line, with those that it goes on in.
type Command struct {
	Line  int
	Text  string
	Input string // what is typed into the program then
	Shown string // what the page says that it prints; empty where there are no prompts
}

// Commands returns what a block has a reader type. Where there are prompts, the rest is what commands print.
func (b Block) Commands() (all []Command) {
	prompt := regexp.MustCompile(`^[$#] `).FindString(b.Text)
	lines := strings.Split(strings.TrimRight(b.Text, "\n"), "\n")
	for n := 0; n < len(lines); n++ {
		c := Command{Line: b.Line + n, Text: lines[n]}
		if prompt != "" {
			typed, asked := strings.CutPrefix(strings.TrimSpace(lines[n]), prompt)
			if !asked {
				if len(all) > 0 {
					all[len(all)-1].Shown += lines[n] + "\n"
				}
				continue
			}
			c.Text = typed
		}
		_, whole := Words(c.Text)
		for (!whole || strings.HasSuffix(c.Text, "\\")) && n+1 < len(lines) {
			n++
			if whole {
				c.Text = strings.TrimSuffix(c.Text, "\\") + " " + strings.TrimSpace(lines[n])
			} else {
				c.Text += "\n" + lines[n]
			}
			_, whole = Words(c.Text)
		}
		if strings.HasPrefix(c.Text, "sqlite3 ") && !strings.Contains(c.Text, "'") {
			c.Input = strings.Join(lines[n+1:], "\n")
			return append(all, c)
		}
		if strings.TrimSpace(c.Text) != "" {
			all = append(all, c)
		}
	}
	return all
}

// Words splits a line as a shell does. Operators are words of their own, and so are parts of $(…). It is not whole
// where a quotation goes on.
func Words(line string) (words []string, whole bool) {
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
			inner, _ := Words(string(runes[from:i]))
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
