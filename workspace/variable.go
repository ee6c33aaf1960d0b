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
		return fault.New(fault.VariableInvalid, "the value of %s has %d bytes; at most %d are allowed", v.Name, len(v.Value), limits.ValueBytes)
	case !utf8.ValidString(v.Value) || strings.ContainsRune(v.Value, 0):
		return fault.New(fault.VariableInvalid, "the value of %s is not a text in UTF-8 without zero bytes", v.Name)
	case v.HCL && v.Kind == EnvironmentVariable:
		return fault.New(fault.VariableInvalid, "%s is an environment variable: those are texts, not HCL", v.Name)
	case v.HCL:
		return checkHCL(v.Name, v.Value)
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
	return fault.New(fault.VariableHCL, "the value of %s is no HCL: %s, at line %d, column %d", name, first.Summary, line, column)
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
		return fault.New(fault.VariableInvalid, "%.100q is no name of a Terraform variable: those are letters, digits, _ and -, and begin with a letter or _", name)
	}
	if slices.Contains([]string{"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"}, name) {
		return fault.New(fault.VariableRefused, "no configuration can declare a variable of the name %s", name)
	}
	return nil
}

func checkEnvironmentName(name string) error {
	if !isEnvironmentName(name) {
		return fault.New(fault.VariableInvalid, "%.100q is no name of an environment variable: those are ASCII letters, digits and _, and don't begin with a digit", name)
	}
	if why := whyReserved(name); why != "" {
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

// whyReserved says why a run's environment variable can't be set by its workspace; empty if it
// can.
func whyReserved(name string) string {
	upper := strings.ToUpper(name)
	for _, r := range []struct {
		names string // apart by blanks; a * at the end stands for more
		why   string
	}{
		{"TF_HTTP_* TF_CLI_CONFIG_FILE TERRAFORM_CONFIG TF_DATA_DIR TF_WORKSPACE TF_INPUT TF_IN_AUTOMATION TF_CLI_ARGS* TF_LOG_PATH* TF_PLUGIN_CACHE* TF_REATTACH_PROVIDERS TF_STATE_PERSIST_INTERVAL TF_TEMP_LOG_PATH TF_FORCE_LOCAL_BACKEND TF_APPEND_USER_AGENT CHECKPOINT_DISABLE HOLDFAST_*", "the server sets it"},
		{"TF_VAR_*", "set a variable of the kind terraform instead"},
		{"LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH PATH HOME TMPDIR TMP TEMP PWD OLDPWD SHELL USER LOGNAME ENV BASH_ENV BASH_FUNC_* IFS XDG_*", "the sandbox relies on it"},
		{"TERRAGRUNT_TFPATH TG_TF_PATH TERRAGRUNT_DOWNLOAD TG_DOWNLOAD_DIR TERRAGRUNT_WORKING_DIR TG_WORKING_DIR", "the server sets it"},
	} {
		for pattern := range strings.FieldsSeq(r.names) {
			prefix, more := strings.CutSuffix(pattern, "*")
			if upper == prefix || more && strings.HasPrefix(upper, prefix) {
				return r.why
			}
		}
	}
	return ""
}

// sortVariables puts variables in the order in which they are shown.
func sortVariables(all []Variable) {
	slices.SortFunc(all, func(a, b Variable) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
}
