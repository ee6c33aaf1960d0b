package agent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/runenv"
	"github.com/holdfast/holdfast/internal/sensitive"
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
	for name, value := range s.executor.outside() {
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

// outside are the environment variables by which commands find their way out of this machine, and which say whom they
// trust there.
func (e *Executor) outside() map[string]string {
	all := maps.Clone(e.settings.Proxies)
	if len(e.settings.Authorities) > 0 {
		if all == nil {
			all = map[string]string{}
		}
		all["SSL_CERT_FILE"], all["GIT_SSL_CAINFO"] = e.authorities(), e.authorities()
	}
	return all
}

// authorities is the file of those whom commands trust.
func (e *Executor) authorities() string { return filepath.Join(e.settings.Work, "authorities.pem") }

// readable is what all commands may read of the executor's.
func (e *Executor) readable() []string {
	if len(e.settings.Authorities) == 0 {
		return nil
	}
	return []string{e.authorities()}
}

// keepAuthorities writes whom commands trust. It is no secret, and read by other accounts too.
func (e *Executor) keepAuthorities() error {
	if len(e.settings.Authorities) == 0 {
		return nil
	}
	return os.WriteFile(e.authorities(), e.settings.Authorities, 0o644)
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
			return fmt.Errorf("the variable %.100q can't be passed on: its name is empty or has a \"=\", or there is a "+
				"zero byte in it", v.Name)
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

// secrets are the values that must not be in any log.
func secrets(a api.Assignment) []string {
	values := sensitive.Without(sensitive.Values(a.Variables, a.Environment), a.Words)
	return append([]string{a.Token, a.StateToken}, values...)
}
