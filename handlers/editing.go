package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// edit reads what a change of a file builds on.
func (r *request) edit() workspace.Edit {
	e := workspace.Edit{Parent: r.parent(), Draft: r.said("draft")}
	is, err := readContents(r.header, "If-Match", false)
	r.check(err)
	if is != nil && is.Any {
		r.check(fault.New(fault.ConditionInvalid,
			"the If-Match of a file is its tag: what is there is not known to whoever names none"))
	} else if is != nil {
		e.Base = append([]workspace.Digest{}, is.Digests...)
	}
	not, err := readContents(r.header, "If-None-Match", true)
	r.check(err)
	if not != nil && !not.Any {
		r.check(fault.New(fault.ConditionInvalid, "the If-None-Match of a file is *: that there is none"))
	}
	e.Absent = not != nil
	return e
}

// putFile makes a snapshot with another file of a path.
func (w workspaces) putFile(ctx context.Context, r *request, name state.Name) (answer, error) {
	file := workspace.File{Path: r.filePath(), Executable: r.said("executable")}
	e := r.edit()
	_, says := r.get("executable")
	e.KeepMode = !says
	if err := r.err(); err != nil {
		return nil, err
	}
	middleware.Leave(r.c)
	made, file, err := w.service.PutFileIf(ctx, r.caller, name, file, middleware.Stream(r.c, maxContentBytes), e)
	return told{body: snapshotOf(made),
		header: func(h http.Header) { h.Set("ETag", strconv.Quote(file.Digest.String())) }}, err
}

func (w workspaces) removeFile(ctx context.Context, r *request, name state.Name) (answer, error) {
	path, e := r.filePath(), r.edit()
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := w.service.RemoveFileIf(ctx, r.caller, name, path, e)
	return tell(snapshotOf(made)), err
}

// moveFile makes a snapshot in which a file has another path.
func (w workspaces) moveFile(ctx context.Context, r *request, name state.Name) (answer, error) {
	order, e := object[api.FileMove](r), r.edit()
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := w.service.MoveFile(ctx, r.caller, name, order.From, order.To, e)
	return tell(snapshotOf(made)), err
}

const (
	// maxFormatText is the longest text that is formatted. hclwrite takes some 200 bytes for each
	// of its tokens, which may be single characters.
	maxFormatText = 1 << 20
	maxFormatBody = 3 << 20 // a character of it may be spelt as six
	maxFormatted  = 16 << 20
	formatBytes   = 256 // for each byte of HCL
)

// format brings a text into the form that the tools' own fmt gives it.
func (w workspaces) format(ctx context.Context, r *request) (answer, error) {
	order := object[api.FormatOrder](r)
	if err := r.err(); err != nil {
		return nil, err
	}
	if err := w.service.Gate.Authorize(ctx, r.caller, auth.ReadWorkspace); err != nil {
		return nil, err
	}
	if len(order.Text) > maxFormatText {
		return nil, fault.New(fault.BodyTooLarge, "a text of %d bytes is not formatted; at most %d", len(order.Text),
			maxFormatText)
	}
	if err := middleware.Beside(r.c, int64(len(order.Text))*formatBytes); err != nil {
		return nil, err
	}
	text, err := formatted(order)
	return tell(api.Formatted{Text: text}), err
}

// showTools shows which versions of tools a workspace can have.
func (w workspaces) showTools(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	if err := w.service.Gate.Authorize(ctx, r.caller, auth.ReadWorkspace); err != nil {
		return nil, err
	}
	said := api.Tools{Tools: []api.ToolVersions{}}
	if w.tools == nil {
		return tell(said), nil
	}
	all, err := w.tools(ctx)
	said.Tools = append(said.Tools, all...)
	return tell(said), err
}

func formatted(order api.FormatOrder) (string, error) {
	switch order.Language {
	case "hcl":
		return formattedHCL([]byte(order.Text))
	case "json":
		return formattedJSON([]byte(order.Text))
	}
	return "", fault.New(fault.FormatInvalid, "the language is hcl or json")
}

// formattedJSON looks first how much that makes: what is nested deeply has long lines.
func formattedJSON(text []byte) (string, error) {
	var b bytes.Buffer
	if makes := indentedBytes(text); makes > maxFormatted {
		return "", errTooDeep()
	}
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return "", fault.New(fault.FormatInvalid, "the text is not JSON: %.200s", err.Error())
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}

// indentedBytes is at least how long JSON becomes.
func indentedBytes(text []byte) (n int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			n += 2 * depth
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
			n += 2 * depth
		case c == ',':
			n += 2 * depth
		}
	}
	return n + 2*len(text)
}

func errTooDeep() error {
	return fault.New(fault.FormatInvalid, "the text is nested so deeply that its usual form would have more than %d bytes",
		maxFormatted)
}

// formattedHCL goes by the text's tokens alone, as hclwrite does: to parse it would take a stack as
// deep as it is nested. Brackets that don't match are refused, as moving its lines about would hide
// what is wrong.
func formattedHCL(text []byte) (string, error) {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
	var open []hclsyntax.Token
	lines, deepest := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl:
			open = append(open, t)
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			if len(open) == 0 || !closes(t.Type, open[len(open)-1].Type) {
				return "", errAt(t, "closes what is not open")
			}
			open = open[:len(open)-1]
		case hclsyntax.TokenInvalid, hclsyntax.TokenBadUTF8:
			return "", errAt(t, "is no HCL")
		case hclsyntax.TokenNewline:
			lines++
		}
		deepest = max(deepest, len(open))
	}
	if len(open) > 0 {
		return "", errAt(open[len(open)-1], "is not closed")
	}
	if 2*lines*deepest+2*len(text) > maxFormatted {
		return "", errTooDeep()
	}
	return string(hclwrite.Format(text)), nil
}

// closes reports whether a bracket is the other half of one that is open.
func closes(end, start hclsyntax.TokenType) bool {
	switch end {
	case hclsyntax.TokenCBrace:
		return start == hclsyntax.TokenOBrace
	case hclsyntax.TokenCBrack:
		return start == hclsyntax.TokenOBrack
	case hclsyntax.TokenCParen:
		return start == hclsyntax.TokenOParen
	}
	return start == hclsyntax.TokenTemplateInterp || start == hclsyntax.TokenTemplateControl
}

func errAt(t hclsyntax.Token, what string) error {
	return fault.New(fault.FormatInvalid, "line %d, column %d: %.40q %s", t.Range.Start.Line, t.Range.Start.Column,
		t.Bytes, what)
}
