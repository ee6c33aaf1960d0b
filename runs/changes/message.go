package changes

import (
	"encoding/json"
	"time"

	strict "github.com/go-json-experiment/json"
)

// message is a line that a tool prints with -json. Of the many kinds only the members are here
// that somebody uses; a line that has them in another shape is a line of text.
type message struct {
	Level      string                   `json:"@level"`
	Text       string                   `json:"@message"`
	Time       time.Time                `json:"@timestamp"`
	Type       string                   `json:"type"`
	Hook       *hook                    `json:"hook"`
	Change     *plannedChange           `json:"change"`
	Diagnostic *diagnosticLine          `json:"diagnostic"`
	Summary    *Summary                 `json:"changes"`
	Outputs    map[string]messageOutput `json:"outputs"`
	OpenTofu   string                   `json:"tofu"`
	Terraform  string                   `json:"terraform"`
	Engine     string                   `json:"holdfast"`
}

// The types of messages.
const (
	typeVersion           = "version"
	typeDiagnostic        = "diagnostic"
	typePlannedChange     = "planned_change"
	typeResourceDrift     = "resource_drift"
	typeChangeSummary     = "change_summary"
	typeOutputs           = "outputs"
	typeApplyStart        = "apply_start"
	typeApplyComplete     = "apply_complete"
	typeApplyErrored      = "apply_errored"
	typeProvisionProgress = "provision_progress"
	typeProvisionComplete = "provision_complete"
	typeProvisionErrored  = "provision_errored"
	typeRefreshComplete   = "refresh_complete"
)

type hook struct {
	Resource    resourceName `json:"resource"`
	Action      string       `json:"action"`
	Elapsed     float64      `json:"elapsed_seconds"`
	Provisioner string       `json:"provisioner"`
	Output      string       `json:"output"`
}

type resourceName struct {
	Address string `json:"addr"`
	Type    string `json:"resource_type"`
}

type plannedChange struct {
	Resource resourceName  `json:"resource"`
	Previous *resourceName `json:"previous_resource"`
	Action   string        `json:"action"`
	Reason   string        `json:"reason"`
}

type messageOutput struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type"`
	Value     json.RawMessage `json:"value"`
	Action    string          `json:"action"`
}

type diagnosticLine struct {
	Severity string       `json:"severity"`
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Address  string       `json:"address"`
	Range    *sourceRange `json:"range"`
	Snippet  *snippet     `json:"snippet"`
}

type sourceRange struct {
	File  string `json:"filename"`
	Start struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	} `json:"start"`
}

type snippet struct {
	Context string `json:"context"`
	Code    string `json:"code"`
	Line    int    `json:"start_line"`
	Values  []struct {
		Traversal string `json:"traversal"`
		Statement string `json:"statement"`
	} `json:"values"`
}

// parseMessage reads a line; false if it is not one of a tool's messages.
func parseMessage(line []byte) (*message, bool) {
	if len(line) == 0 || line[0] != '{' {
		return nil, false
	}
	m := &message{}
	if err := strict.Unmarshal(line, m); err != nil || m.Text == "" && m.Type == "" {
		return nil, false
	}
	return m, true
}

// Summary is how many resources were, or would be, changed, by the tool's own count.
type Summary struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
	Forget    int    `json:"forget"`
	Operation string `json:"operation"` // plan, apply or destroy
}

// Diagnostic is an error or a warning of the tool's. Its texts are the tool's: what is sensitive in
// them must be masked as in any text of a log.
type Diagnostic struct {
	Severity string // error or warning
	Summary  string
	Detail   string
	Address  string
	File     string
	Line     int
	Column   int
	Context  string // such as resource "aws_instance" "a"
	Code     string // the lines of the configuration, from line CodeLine on
	CodeLine int
	Values   []string // what the expressions in Code were, such as var.a is "x"
}

func (d *diagnosticLine) diagnostic() Diagnostic {
	out := Diagnostic{Severity: d.Severity, Summary: d.Summary, Detail: d.Detail, Address: d.Address}
	if d.Range != nil {
		out.File, out.Line, out.Column = d.Range.File, d.Range.Start.Line, d.Range.Start.Column
	}
	if d.Snippet != nil {
		out.Context, out.Code, out.CodeLine = d.Snippet.Context, d.Snippet.Code, d.Snippet.Line
		for _, value := range d.Snippet.Values {
			out.Values = append(out.Values, value.Traversal+" "+value.Statement)
		}
	}
	return out
}
