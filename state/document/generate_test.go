package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// object is a JSON object of a generated state.
type object = map[string]any

// secret starts every generated value that is sensitive, and nothing else.
const secret = "s3cr3t-"

// world makes two states of which the second grew out of the first.
type world struct {
	t    *rapid.T
	next int // for ids and secrets
}

func (w *world) number() int {
	w.next++
	return w.next
}

func (w *world) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(w.t, label)
}

func (w *world) chance(label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(w.t, label) < percent
}

// value makes any JSON value; depth bounds it.
func (w *world) value(depth int) any {
	kinds := []string{"null", "bool", "number", "string", "string"}
	if depth > 0 {
		kinds = append(kinds, "list", "object")
	}
	switch w.pick("kind", kinds...) {
	case "bool":
		return rapid.Bool().Draw(w.t, "bool")
	case "number":
		return json.Number(w.pick("number", "0", "-0", "1", "1.0", "10e-1", "0.1", "-12.50", "9007199254740993",
			"9007199254740992", "1e30", "123456789012345678901234567890"))
	case "string":
		return w.pick("text", "", "a", "<b>&\u2028", "with \"quotes\" and \\", "ünï 状態 😀", "\x1b[31mred", "{}", "1")
	case "list":
		list := make([]any, rapid.IntRange(0, 3).Draw(w.t, "length"))
		for i := range list {
			list[i] = w.value(depth - 1)
		}
		return list
	case "object":
		return w.members(depth - 1)
	}
	return nil
}

func (w *world) members(depth int) object {
	all := object{}
	for range rapid.IntRange(0, 3).Draw(w.t, "members") {
		all[w.pick("name", "a", "b", "tags", "a b", "ü.\"", "", "0")] = w.value(depth)
	}
	return all
}

// blocks makes a list of things, which may have names and may be alike.
func (w *world) blocks() any {
	kind := w.pick("blocks", "numbers", "named", "bare", "mixed")
	list := make([]any, rapid.IntRange(0, 6).Draw(w.t, "blocks"))
	for i := range list {
		list[i] = w.block(kind)
	}
	return list
}

func (w *world) block(kind string) any {
	few := rapid.IntRange(0, 3).Draw(w.t, "few")
	switch kind {
	case "named":
		return object{"name": fmt.Sprintf("b%d", w.number()), "port": few}
	case "bare":
		return object{"port": few, "list": []any{few, 1}}
	case "mixed":
		return w.value(1)
	}
	return few
}

// text makes a string of lines, or of JSON.
func (w *world) text() any {
	if w.chance("JSON", 50) {
		raw, _ := json.Marshal(object{"Statement": w.blocks(), "list": w.blocks()})
		return string(raw)
	}
	lines := make([]string, rapid.IntRange(1, 12).Draw(w.t, "lines"))
	for i := range lines {
		lines[i] = w.pick("line", "one", "two", "\tthree", "")
	}
	return strings.Join(lines, "\n")
}

// reworked changes what is in a value: elements come, go and change.
func (w *world) reworked(v any) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, element := range v {
			switch w.pick("element", "stays", "stays", "stays", "goes", "comes", "changes") {
			case "goes":
				continue
			case "comes":
				out = append(out, w.block(w.pick("blocks", "numbers", "named", "bare", "mixed")))
			case "changes":
				element = w.reworked(element)
			}
			out = append(out, element)
		}
		return out
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "name" {
				v[name] = w.reworked(v[name])
			}
		}
		return v
	case string:
		var held any
		if json.Unmarshal([]byte(v), &held) == nil && !w.chance("break", 20) {
			raw, _ := json.Marshal(w.reworked(held))
			return string(raw)
		}
		return v + w.pick("more", "x", "\n", "\nmore", "")
	}
	return rapid.IntRange(0, 3).Draw(w.t, "few")
}

// instance makes an instance that marks some of its secrets, each in another way.
func (w *world) instance() object {
	attributes := w.members(3)
	attributes["id"] = fmt.Sprintf("i-%d", w.number())
	attributes["list"], attributes["list of text"] = w.blocks(), w.text()
	var marks []any
	for n := range rapid.IntRange(0, 2).Draw(w.t, "secrets") {
		name := fmt.Sprintf("secret%d", n)
		value, mark := w.secret(name)
		attributes[name] = value
		marks = append(marks, mark)
	}
	i := object{"schema_version": rapid.IntRange(0, 2).Draw(w.t, "schema"), "attributes": attributes,
		"private": "c2VjcmV0"}
	if len(marks) > 0 || w.chance("empty marks", 50) {
		i["sensitive_attributes"] = append([]any{}, marks...)
	}
	if len(marks) > 0 && w.chance("identity", 50) {
		i["identity"] = object{"id": attributes["id"], "token": textIn(attributes["secret0"])}
	}
	if w.chance("needs", 30) {
		i["dependencies"] = []string{"aws_vpc.main"}
	}
	return i
}

// textIn returns the secret that is in an attribute.
func textIn(v any) any {
	switch v := v.(type) {
	case object:
		for _, name := range []string{"password", "a b", "x", "p", "value"} {
			if inside, ok := v[name]; ok {
				return textIn(inside)
			}
		}
	case []any:
		return textIn(v[len(v)-1])
	}
	return v
}

// secret makes an attribute with a secret in it and the path that leads there.
func (w *world) secret(name string) (value any, mark []any) {
	text := fmt.Sprintf("%s%d", secret, w.number())
	top := object{"type": "get_attr", "value": name}
	index := func(key any, kind string) object {
		return object{"type": "index", "value": object{"value": key, "type": kind}}
	}
	switch w.pick("mark", "whole", "member", "key", "element", "block", "set", "wrapped", "unknown", "gone") {
	case "member":
		return object{"user": "root", "password": text}, []any{top, object{"type": "get_attr", "value": "password"}}
	case "key":
		return object{"a b": text, "other": 1}, []any{top, index("a b", "string")}
	case "element":
		return []any{"plain", object{"x": text}}, []any{top, index(1, "number")}
	case "block":
		list := []any{object{"name": "a", "x": "plain"}, object{"name": "b", "x": text}, object{"name": "c", "x": "plain"}}
		return list, []any{top, index(1, "number"), object{"type": "get_attr", "value": "x"}}
	case "set":
		element := object{"value": object{"x": text}, "type": []any{"object", object{"x": "string"}}}
		return []any{object{"x": text}}, []any{top, object{"type": "index", "value": element}}
	case "wrapped":
		return object{"value": object{"p": text}, "type": "string"}, []any{top, object{"type": "get_attr", "value": "p"}}
	case "unknown":
		return object{"x": text}, []any{top, object{"type": "future", "value": []any{1}}}
	case "gone":
		return []any{text}, []any{top, index(7, "number")}
	}
	return text, []any{top}
}

// keys are how instances of a resource are told apart.
func (w *world) keys() []any {
	switch w.pick("repetition", "none", "count", "for_each") {
	case "count":
		return []any{0, 1, 2}
	case "for_each":
		return []any{"plain", "q\"uote", "ünï ${x}", "new\nline"}
	}
	return []any{nil}
}

// first makes a state.
func (w *world) first() object {
	resources := map[string]object{}
	for range rapid.IntRange(0, 5).Draw(w.t, "resources") {
		r := object{
			"mode": w.pick("mode", "managed", "managed", "data"),
			"type": w.pick("type", "aws_vpc", "aws_subnet"),
			"name": w.pick("name", "main", "other"),
			"provider": w.pick("provider", `provider["registry.opentofu.org/hashicorp/aws"]`,
				`provider["registry.opentofu.org/hashicorp/aws"].west`),
		}
		if module := w.pick("module", "", "", `module.a`, `module.b["x\"y"].module.c[0]`); module != "" {
			r["module"] = module
		}
		instances := []any{}
		for _, key := range w.keys() {
			if i := w.instance(); w.chance("there", 70) {
				if key != nil {
					i["index_key"] = key
				}
				instances = append(instances, i)
			}
		}
		r["instances"] = instances
		resources[fmt.Sprint(r["module"], r["mode"], r["type"], r["name"])] = r
	}
	return w.state(w.outputs(), inOrder(resources))
}

func inOrder(resources map[string]object) []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		list = append(list, resources[name])
	}
	return list
}

func (w *world) state(outputs object, resources []any) object {
	return object{
		"version": 4, "terraform_version": w.pick("version", "1.5.7", "1.12.6"), "serial": w.number(),
		"lineage": w.pick("lineage", "l-1", "l-1", "l-2"), "outputs": outputs, "resources": resources, "check_results": nil,
	}
}

func (w *world) outputs() object {
	all := object{}
	for range rapid.IntRange(0, 3).Draw(w.t, "outputs") {
		value := w.value(2)
		if w.chance("list", 40) {
			value = w.blocks()
		}
		output := object{"value": value, "type": w.pick("output type", "string", "dynamic")}
		if w.chance("sensitive", 30) {
			output["sensitive"] = true
			output["value"] = object{"deep": []any{fmt.Sprintf("%s%d", secret, w.number())}}
		}
		all[w.pick("output", "a", "b", "c")] = output
	}
	return all
}

// second changes a state: attributes, marks, places, existence.
func (w *world) second(first object) object {
	resources := map[string]object{}
	for _, r := range clone(first)["resources"].([]any) {
		resource := r.(object)
		if w.chance("rename", 20) {
			resource["name"] = fmt.Sprintf("renamed%d", w.number())
		}
		kept := []any{}
		for _, i := range resource["instances"].([]any) {
			kept = append(kept, w.grown(i.(object))...)
		}
		resource["instances"] = kept
		resources[fmt.Sprint(resource["module"], resource["mode"], resource["type"], resource["name"])] = resource
	}
	if w.chance("more", 30) {
		resources["z"] = object{"mode": "managed", "type": "aws_vpc", "name": "z", "instances": []any{w.instance()}}
	}
	outputs := clone(first)["outputs"].(object)
	if w.chance("new outputs", 50) {
		outputs = w.outputs()
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if output := outputs[name].(object); output["sensitive"] == nil {
			output["value"] = w.reworked(output["value"])
		}
	}
	return w.state(outputs, inOrder(resources))
}

// grown returns what became of an instance.
func (w *world) grown(i object) []any {
	switch w.pick("fate", "same", "same", "gone", "attribute", "other", "taint", "depose", "secret", "list", "list") {
	case "gone":
		return nil
	case "attribute":
		maps.Copy(i["attributes"].(object), w.members(3))
	case "other":
		delete(i, "identity")
		i["attributes"] = w.instance()["attributes"].(object)
		delete(i["attributes"].(object), "id")
		i["sensitive_attributes"] = []any{[]any{object{"type": "get_attr", "value": "secret0"}},
			[]any{object{"type": "get_attr", "value": "secret1"}}}
	case "list":
		attributes := i["attributes"].(object)
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			if strings.HasPrefix(name, "list") {
				attributes[name] = w.reworked(attributes[name])
			}
		}
	case "taint":
		i["status"] = "tainted"
	case "depose":
		old := clone(i)
		old["deposed"] = fmt.Sprintf("%08x", w.number())
		i["attributes"].(object)["id"] = fmt.Sprintf("i-%d", w.number())
		return []any{i, old}
	case "secret":
		delete(i, "identity")
		i["attributes"].(object)["secret0"] = fmt.Sprintf("%s%d", secret, w.number())
		i["sensitive_attributes"] = []any{[]any{object{"type": "get_attr", "value": "secret0"}},
			[]any{object{"type": "get_attr", "value": "secret1"}}}
	}
	return []any{i}
}

func clone(o object) object {
	raw, _ := json.Marshal(o)
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var copied object
	_ = d.Decode(&copied)
	return copied
}

// write returns a state's bytes as one of the clients would write them.
func (w *world) write(o object) []byte {
	if w.chance("indented", 50) {
		body, _ := json.MarshalIndent(o, "", "  ")
		return append(body, '\n')
	}
	body, _ := json.Marshal(o)
	return append(body, '\n')
}
