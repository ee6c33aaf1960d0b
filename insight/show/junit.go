package show

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// The shapes of JUnit's XML, as CI systems read them.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Failure *junitNote `xml:"failure,omitempty"`
		Error   *junitNote `xml:"error,omitempty"`
		Skipped *junitNote `xml:"skipped,omitempty"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes an insight's findings as a suite of tests: each finding is one that failed, or one
// that was skipped where it is waived or of what the plan leaves as it is. A plan without any has
// one that passed.
func JUnit(w io.Writer, all api.Insight) error {
	suite := junitSuite{Name: "holdfast insight"}
	add := func(c junitCase) { suite.Cases = append(suite.Cases, c) }
	for _, f := range all.Findings {
		c := junitCase{Name: safe(f.Rule + " " + orNothing(f.Resource)), Class: safe("holdfast." + f.Kind)}
		note := &junitNote{Message: safe(f.Description), Type: f.Severity, Text: safe(f.Recommendation)}
		switch {
		case f.Waived != nil:
			c.Skipped = &junitNote{Message: safe("waived by " + f.Waived.Owner + " until " + f.Waived.Expires + ": " +
				f.Waived.Reason)}
			suite.Skipped++
		case f.Standing:
			c.Skipped = &junitNote{Message: "the plan leaves it as it is"}
			suite.Skipped++
		default:
			c.Failure = note
			suite.Failures++
		}
		add(c)
	}
	for _, b := range all.Broken {
		add(junitCase{Name: safe(b.Rule), Class: "holdfast.broken", Error: &junitNote{Message: safe(b.Reason)}})
		suite.Errors++
	}
	if len(suite.Cases) == 0 {
		add(junitCase{Name: "no findings", Class: "holdfast"})
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// safe is a text that XML can have.
func safe(text string) string { return strings.ToValidUTF8(printable.Text(text), "?") }
