package workspace

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runenv"
)

// Kind is what a variable is for.
type Kind string

// The kinds.
const (
	TerraformVariable   Kind = "terraform"   // a variable block of the configuration
	EnvironmentVariable Kind = "environment" // of the tool's process
)

// Key names a variable within its workspace or organization.
type Key struct {
	Kind Kind
	Name string
}

// Variable is a variable as it is kept: its value is sealed.
type Variable struct {
	Key
	HCL       bool // the value is an expression, and not a text
	Sensitive bool // the value is never shown again
	Size      int  // of the value, in bytes
	Sealed    []byte
	UpdatedAt time.Time
	UpdatedBy Actor
}

// Value is a variable with its value, which is a secret if it is sensitive.
type Value struct {
	Key
	HCL       bool
	Sensitive bool
	Value     string
}

// Check returns what is wrong with the variable.
func (v Value) Check(limits Limits) error {
	if err := v.Key.check(); err != nil {
		return err
	}
	switch {
	case len(v.Value) > limits.ValueBytes:
		return fault.New(fault.VariableInvalid, "the value of %s has %d bytes; at most %d are allowed", v.Name, len(v.Value),
			limits.ValueBytes)
	case !utf8.ValidString(v.Value) || strings.ContainsRune(v.Value, 0):
		return fault.New(fault.VariableInvalid, "the value of %s is not a text in UTF-8 without zero bytes", v.Name)
	case v.HCL && v.Kind == EnvironmentVariable:
		return fault.New(fault.VariableInvalid, "%s is an environment variable: those are texts, not HCL", v.Name)
	case v.HCL:
		return checkHCL(v.Name, v.Value)
	case v.Kind == EnvironmentVariable:
		if why := runenv.WhyTooMuch(v.Name, v.Value); why != "" {
			return fault.New(fault.VariableRefused, "%s can't be set to that for runs: %s", v.Name, why)
		}
	}
	return nil
}

// checkHCL refuses what is not one expression whose value is known by itself.
func checkHCL(name, value string) error {
	if why := notConstant(value); why != "" {
		return fault.New(fault.VariableHCL, "the value of %s is no HCL that a variable can have: %s", name, why)
	}
	expression, problems := hclsyntax.ParseExpression([]byte(value), "value", hcl.InitialPos)
	if !problems.HasErrors() {
		_, problems = expression.Value(nil) // without variables and functions
	}
	if !problems.HasErrors() {
		return nil
	}
	first := problems.Errs()[0].(*hcl.Diagnostic)
	line, column := 1, 1
	if first.Subject != nil {
		line, column = first.Subject.Start.Line, first.Subject.Start.Column
	}
	// Not the detail: it may quote the value, which may be a secret.
	return fault.New(fault.VariableHCL, "the value of %s is no HCL: %s, at line %d, column %d", name, first.Summary, line,
		column)
}

func (k Key) check() error {
	if len(k.Name) > maxText {
		return fault.New(fault.VariableInvalid, "a variable's name has at most %d bytes", maxText)
	}
	switch k.Kind {
	case TerraformVariable:
		return checkTerraformName(k.Name)
	case EnvironmentVariable:
		return checkEnvironmentName(k.Name)
	}
	return fault.New(fault.VariableInvalid, "a variable's kind is terraform or environment")
}

func checkTerraformName(name string) error {
	if !hclsyntax.ValidIdentifier(name) {
		return fault.New(fault.VariableInvalid,
			"%.100q is no name of a Terraform variable: those are letters, digits, _ and -, and begin with a letter or _", name)
	}
	if slices.Contains([]string{"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on",
		"locals"}, name) {
		return fault.New(fault.VariableRefused, "no configuration can declare a variable of the name %s", name)
	}
	return nil
}

func checkEnvironmentName(name string) error {
	if !isEnvironmentName(name) {
		return fault.New(fault.VariableInvalid,
			"%.100q is no name of an environment variable: those are ASCII letters, digits and _, and don't begin with a digit",
			name)
	}
	if why := runenv.WhyReserved(name); why != "" {
		return fault.New(fault.VariableRefused, "%s can't be set for runs: %s", name, why)
	}
	return nil
}

func isEnvironmentName(name string) bool {
	for i := range len(name) {
		letter := name[i] == '_' || 'a' <= name[i]|0x20 && name[i]|0x20 <= 'z'
		if !letter && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != ""
}

// sortVariables puts variables in the order in which they are shown.
func sortVariables(all []Variable) {
	slices.SortFunc(all, func(a,
		b Variable) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}
