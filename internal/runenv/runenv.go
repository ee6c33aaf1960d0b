// Package runenv says which environment variables a workspace can't set for its runs.
package runenv

import (
	"slices"
	"strings"
)

// WhyReserved says why a run's environment variable can't be set by its workspace; empty if it
// can.
func WhyReserved(name string) string {
	upper := strings.ToUpper(name)
	for _, r := range []struct {
		names string // apart by blanks; a * at the end stands for more
		why   string
	}{
		{"TF_HTTP_* TF_CLI_CONFIG_FILE TERRAFORM_CONFIG TF_DATA_DIR TF_WORKSPACE TF_INPUT TF_IN_AUTOMATION TF_CLI_ARGS* " +
			"TF_LOG_PATH* TF_PLUGIN_CACHE* TF_REATTACH_PROVIDERS TF_STATE_PERSIST_INTERVAL TF_TEMP_LOG_PATH " +
			"TF_FORCE_LOCAL_BACKEND TF_APPEND_USER_AGENT CHECKPOINT_DISABLE HOLDFAST_*", "the server sets it"},
		{"TF_VAR_*", "set a variable of the kind terraform instead"},
		{"LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH PATH HOME TMPDIR TMP TEMP PWD OLDPWD SHELL USER LOGNAME ENV BASH_ENV " +
			"BASH_FUNC_* IFS XDG_*", "the sandbox relies on it"},
		{"TERRAGRUNT_TFPATH TG_TF_PATH TERRAGRUNT_DOWNLOAD TG_DOWNLOAD_DIR TERRAGRUNT_WORKING_DIR TG_WORKING_DIR",
			"the server sets it"},
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

// WhyTooMuch says why a value can't be set for an environment variable; empty if it can. With more
// than INFO the tools and their providers log what they send and receive: attributes of states
// and answers of clouds, with secrets that nobody has named and that are not masked.
func WhyTooMuch(name, value string) string {
	switch name = strings.ToUpper(name); {
	case strings.HasPrefix(name, "TF_LOG"), name == "TG_LOG_LEVEL", name == "TERRAGRUNT_LOG_LEVEL":
	default:
		return ""
	}
	// A level that a tool doesn't know counts for TRACE.
	if slices.Contains([]string{"", "OFF", "ERROR", "STDERR", "STDOUT", "WARN", "INFO"}, strings.ToUpper(value)) {
		return ""
	}
	return "with more than INFO, the log would have secrets out of states and of providers"
}
