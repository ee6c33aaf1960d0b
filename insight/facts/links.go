package facts

import (
	"encoding/json"
	"slices"
	"strings"
)

// links is what depends on what, by addresses in the configuration. Besides resources it has the
// variables and outputs of modules, over which one resource depends on another one.
type links struct {
	users map[string][]string // of each address those that depend on it
	seen  map[[2]string]bool
}

// maxLinks bounds how many dependencies are known, and maxSteps how many are followed for a plan.
const (
	maxLinks = 1_000_000
	maxSteps = 3_000_000
)

func newLinks() *links { return &links{users: map[string][]string{}, seen: map[[2]string]bool{}} }

func (l *links) add(user, used string) {
	edge := [2]string{user, used}
	if user == used || l.seen[edge] || len(l.seen) >= maxLinks {
		return
	}
	l.seen[edge] = true
	l.users[used] = append(l.users[used], user)
}

// dependents are the resources that depend on one, over others too, at most a number of them, and
// how many there are within what may be looked at.
func (l *links) dependents(of string, most int, steps *int) (list []string, n int) {
	seen, queue := map[string]bool{of: true}, []string{of}
	for len(queue) > 0 && *steps > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, user := range l.users[next] {
			*steps--
			if seen[user] {
				continue
			}
			seen[user] = true
			queue = append(queue, user)
			if isResource(user) {
				n++
				if len(list) < most {
					list = append(list, user)
				}
			}
		}
	}
	slices.Sort(list)
	return list, n
}

func isResource(address string) bool {
	_, local := moduleOf(address)
	first, rest, _ := strings.Cut(local, ".")
	return first != "var" && first != "output" && rest != "" && first != "data"
}

// moduleOf parts an address in the configuration: the modules' path with its last dot, and the rest.
func moduleOf(address string) (module, local string) {
	for strings.HasPrefix(address[len(module):], "module.") {
		name, _, ok := strings.Cut(address[len(module)+len("module."):], ".")
		if !ok {
			break
		}
		module += "module." + name + "."
	}
	return module, address[len(module):]
}

// wireConfig is a plan's configuration.
type wireConfig struct {
	Providers map[string]struct {
		FullName    string                     `json:"full_name"`
		Expressions map[string]json.RawMessage `json:"expressions"`
	} `json:"provider_config"`
	Root wireModule `json:"root_module"`
}

// wireModule is a module of a configuration.
type wireModule struct {
	Outputs map[string]struct {
		Expression json.RawMessage `json:"expression"`
		DependsOn  []string        `json:"depends_on"`
	} `json:"outputs"`
	Resources []struct {
		Address     string          `json:"address"`
		Expressions json.RawMessage `json:"expressions"`
		Count       json.RawMessage `json:"count_expression"`
		ForEach     json.RawMessage `json:"for_each_expression"`
		DependsOn   []string        `json:"depends_on"`
	} `json:"resources"`
	Calls map[string]struct {
		Expressions map[string]json.RawMessage `json:"expressions"`
		Module      wireModule                 `json:"module"`
		DependsOn   []string                   `json:"depends_on"`
	} `json:"module_calls"`
}

// configuration learns from the configuration what depends on what, and where its providers are.
func (p *Plan) configuration(raw json.RawMessage) error {
	var config wireConfig
	if err := json.Unmarshal(raw, &config); err != nil {
		return err
	}
	for name, provider := range config.Providers {
		region := p.plain(provider.Expressions["region"])
		if region == "" {
			region = p.plain(provider.Expressions["location"])
		}
		p.Providers[name] = Provider{provider.FullName, region}
	}
	p.links.module("", config.Root)
	return nil
}

// plain is the text of an expression that is one, or names a variable of the root module.
func (p *Plan) plain(raw json.RawMessage) string {
	var e struct {
		Constant   any      `json:"constant_value"`
		References []string `json:"references"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &e) != nil {
		return ""
	}
	if text, ok := e.Constant.(string); ok {
		return text
	}
	if len(e.References) == 1 {
		if name, ok := strings.CutPrefix(e.References[0], "var."); ok {
			var text string
			_ = json.Unmarshal(p.Variables[name], &text)
			return text
		}
	}
	return ""
}

// module adds what a module's resources, outputs and calls depend on. prefix is its path.
func (l *links) module(prefix string, m wireModule) {
	for _, res := range m.Resources {
		user := prefix + res.Address
		l.refer(prefix, user, res.DependsOn)
		for _, raw := range []json.RawMessage{res.Expressions, res.Count, res.ForEach} {
			l.refer(prefix, user, references(raw))
		}
	}
	for name, output := range m.Outputs {
		user := prefix + "output." + name
		l.refer(prefix, user, output.DependsOn)
		l.refer(prefix, user, references(output.Expression))
	}
	for name, call := range m.Calls {
		inner := prefix + "module." + name + "."
		for variable, raw := range call.Expressions {
			l.refer(prefix, inner+"var."+variable, references(raw))
		}
		for _, res := range call.Module.Resources {
			l.refer(prefix, inner+res.Address, call.DependsOn)
		}
		l.module(inner, call.Module)
	}
}

// refer adds what a user refers to from within the module of this path.
func (l *links) refer(prefix, user string, references []string) {
	for _, reference := range references {
		if used := target(reference); used != "" {
			l.add(user, prefix+used)
		}
	}
}

// target is the address that a reference is about: aws_x.y of aws_x.y.id, module.m.output.o of
// module.m.o; empty for what is about no resource.
func target(reference string) string {
	parts := strings.Split(configAddress(reference), ".")
	switch {
	case len(parts) < 2:
		return ""
	case parts[0] == "var":
		return "var." + parts[1]
	case parts[0] == "module" && len(parts) > 2:
		return "module." + parts[1] + ".output." + parts[2]
	case parts[0] == "data" && len(parts) > 2:
		return strings.Join(parts[:3], ".")
	}
	switch parts[0] {
	case "local", "each", "count", "self", "path", "terraform", "tofu", "module", "data":
		return ""
	}
	return parts[0] + "." + parts[1]
}

// references are those in an expression, however deep.
func references(raw json.RawMessage) (list []string) {
	if len(raw) == 0 {
		return nil
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return appendReferences(nil, value)
}

func appendReferences(list []string, value any) []string {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			list = appendReferences(list, element)
		}
	case map[string]any:
		for name, member := range value {
			names, isList := member.([]any)
			if name != "references" || !isList {
				list = appendReferences(list, member)
				continue
			}
			for _, one := range names {
				if text, ok := one.(string); ok {
					list = append(list, text)
				}
			}
		}
	}
	return list
}
