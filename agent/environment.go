package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/runenv"
)

// maxVariable is how long an entry of a process's environment may be on Linux.
const maxVariable = 128<<10 - 1

// systemPath is where commands find the system's programs.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// stateUser is the name that goes with a run's token at the state's address.
const stateUser = "run"

// The tool repeats what fails on the way to the state, which bridges about five minutes: a
// server that is started anew costs no apply.
const (
	stateRetries      = "35"
	stateRetryMin     = "1"
	stateRetryMax     = "10"
	stateLockMethod   = "LOCK"
	stateUnlockMethod = "UNLOCK"
)

// environment returns all that a command gets: nothing of the executor's own environment. What
// a run depends on can't be changed by a workspace's variables.
func (s *stage) environment() ([]string, error) {
	if err := checkEnvironment(s.assignment); err != nil {
		return nil, err
	}
	given := map[string]string{"PATH": systemPath, "LANG": "C.UTF-8", "TZ": "UTC"}
	for name, value := range s.executor.settings.Proxies {
		given[name] = value
	}
	for _, v := range s.assignment.Environment {
		given[v.Name] = v.Value
	}
	for _, v := range s.assignment.Variables {
		given["TF_VAR_"+v.Name] = v.Value
	}
	for _, own := range []map[string]string{s.fixed(), s.tool.Env} {
		for name, value := range own {
			given[name] = value
		}
	}
	var all []string
	for name, value := range given {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all, nil
}

// fixed is what a run depends on.
func (s *stage) fixed() map[string]string {
	state := strings.TrimSuffix(s.executor.settings.Address, "/") + s.assignment.StateAddress
	fixed := map[string]string{
		"HOME": scratchIn(s.folder, "home"), "TMPDIR": temporaryOf(s.folder),
		"TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "CHECKPOINT_DISABLE": "1",
		"TF_CLI_CONFIG_FILE": cliConfigIn(s.folder), "TF_DATA_DIR": scratchIn(s.folder, "data"),
		"TF_HTTP_ADDRESS": state, "TF_HTTP_LOCK_ADDRESS": state, "TF_HTTP_UNLOCK_ADDRESS": state,
		"TF_HTTP_LOCK_METHOD": stateLockMethod, "TF_HTTP_UNLOCK_METHOD": stateUnlockMethod, "TF_HTTP_UPDATE_METHOD": "POST",
		"TF_HTTP_USERNAME": stateUser, "TF_HTTP_PASSWORD": s.assignment.StateToken,
		"TF_HTTP_RETRY_MAX": stateRetries, "TF_HTTP_RETRY_WAIT_MIN": stateRetryMin, "TF_HTTP_RETRY_WAIT_MAX": stateRetryMax,
	}
	if pem := s.executor.settings.CACertificate; pem != "" {
		fixed["TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"] = pem
	}
	return fixed
}

// checkEnvironment refuses variables that the system can't pass on, and those by which a
// workspace would change what a run is.
func checkEnvironment(a api.Assignment) error {
	for _, v := range slices.Concat(a.Variables, a.Environment) {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.ContainsRune(v.Value, 0) {
			return fmt.Errorf("the variable %.100q can't be passed on: its name is empty or has a \"=\", or there is a zero byte in it", v.Name)
		}
		if len("TF_VAR_=")+len(v.Name)+len(v.Value) > maxVariable {
			return fmt.Errorf("the variable %.100q is longer than the %d bytes that the system passes on", v.Name, maxVariable)
		}
	}
	for _, v := range a.Environment {
		if why := runenv.WhyReserved(v.Name); why != "" {
			return fmt.Errorf("the environment variable %s can't be set for runs, %s; remove it from the workspace", v.Name, why)
		}
		if why := runenv.WhyTooMuch(v.Name, v.Value); why != "" {
			return fmt.Errorf("the environment variable %s can't have that value: %s", v.Name, why)
		}
	}
	return nil
}

// secrets are the values that must not be in any log, and the texts in those that are lists or
// objects: a configuration takes them out one by one.
func secrets(a api.Assignment) []string {
	found := []string{a.Token, a.StateToken}
	for _, v := range slices.Concat(a.Variables, a.Environment) {
		if v.Sensitive && v.Value != "" {
			found = append(append(found, v.Value), textsIn(v.Value)...)
		}
	}
	return found
}

// leastText is how many bytes a text in a sensitive value has that is masked by itself: shorter
// ones are words such as "true".
const leastText = 6

// textsIn are the texts in a list or an object, in HCL or JSON, but for the names in it.
func textsIn(value string) (found []string) {
	if trimmed := strings.TrimSpace(value); !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "{") {
		return nil
	}
	tokens, _ := hclsyntax.LexExpression([]byte(value), "value", hcl.InitialPos)
	var text strings.Builder
	for i, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			text.Reset()
		case hclsyntax.TokenStringLit:
			text.Write(token.Bytes)
		case hclsyntax.TokenQuotedLit:
			text.WriteString(unescaped(string(token.Bytes)))
		case hclsyntax.TokenNumberLit:
			if len(token.Bytes) >= leastText {
				found = append(found, string(token.Bytes))
			}
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			if text.Len() >= leastText && !isName(tokens[i+1:]) {
				found = append(found, text.String())
			}
		}
	}
	return found
}

// isName reports whether what stands before these tokens names an attribute.
func isName(behind hclsyntax.Tokens) bool {
	return len(behind) > 0 && (behind[0].Type == hclsyntax.TokenEqual || behind[0].Type == hclsyntax.TokenColon)
}

// unescaped is a text from between quotes. HCL's escapes are JSON's, but for a few.
func unescaped(quoted string) string {
	quoted = strings.NewReplacer("$${", "${", "%%{", "%{").Replace(quoted)
	var text string
	if json.Unmarshal([]byte(`"`+quoted+`"`), &text) != nil {
		return quoted
	}
	return text
}
