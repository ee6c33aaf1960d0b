package configs

import (
	"regexp"
	"slices"
	"strings"
)

const envPrefix = "HOLDFAST_"

// EnvConfig is the environment variable that names the settings file.
const EnvConfig = envPrefix + "CONFIG"

// commandNames returns the variables that the command and its tests read themselves.
func commandNames() []string {
	return []string{EnvConfig, "HOLDFAST_ADDR", "HOLDFAST_ORG", "HOLDFAST_KEY", "HOLDFAST_CLIENTS_CACHE", "HOLDFAST_MYSQL",
		"HOLDFAST_AGENT_WORK", "HOLDFAST_POOL_TOKEN_FILE", "HOLDFAST_ENGINE_PROVIDERS", "HOLDFAST_ENGINE_LOG_FORMAT",
		"HOLDFAST_ENGINE_LOG_LEVEL", "HOLDFAST_FROM_USER", "HOLDFAST_FROM_PASSWORD", "HOLDFAST_POLICY_WEBHOOK",
		"HOLDFAST_PROJECT_ID"}
}

// environment is what os.Environ returns, by name. A name's first entry counts, as in
// os.Getenv. An empty variable counts as not set: Compose files and charts often pass
// one on that way.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if _, seen := env[name]; !seen && text != "" {
			env[name] = text
		}
	}
	return env
}

// readEnv returns the values that the environment sets. It refuses HOLDFAST_ names that
// it does not know, so that a misspelt one can't go unnoticed.
func readEnv(environ []string, settings []setting, faults *Faults) []value {
	env := environment(environ)
	var found []value
	for _, s := range settings {
		if text, ok := env[s.env]; ok {
			found = append(found, value{s, text, s.env, "environment " + s.env})
			delete(env, s.env)
		}
	}
	for _, name := range sortedKeys(env) {
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(commandNames(), name) || isServiceLink(name, env[name]) {
			continue
		}
		faults.add(name, "unknown setting%s", suggestEnv(name, settings))
	}
	return found
}

var serviceLink = regexp.MustCompile(`^HOLDFAST_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_.+)?)$`)

// isServiceLink reports whether Kubernetes made the variable: beside a Service called
// holdfast, every pod has HOLDFAST_SERVICE_HOST, HOLDFAST_PORT=tcp://10.0.0.1:7777 and
// more like them. A HOLDFAST_PORT that a person wrote has no such value.
func isServiceLink(name, text string) bool {
	return serviceLink.MatchString(name) ||
		strings.HasSuffix(name, "_PORT") && strings.Contains(text, "://")
}

// suggestEnv names the right variable for someone who guessed HOLDFAST_SECTION_KEY or
// put the prefix before one of the baseline's names.
func suggestEnv(name string, settings []setting) string {
	guess := strings.TrimPrefix(name, envPrefix)
	for _, s := range settings {
		if guess == s.env || guess == strings.ToUpper(s.section+"_"+s.key) {
			return "; " + s.name() + " is set by " + s.env
		}
	}
	return ""
}
