package handlers

import (
	"strings"

	"github.com/holdfast/holdfast/internal/openapi"
)

func inQueryOf(name, about string, schema openapi.Schema) openapi.Parameter {
	return openapi.Parameter{Name: name, In: "query", Description: about, Schema: schema}
}

// textOf is text in the query.
func textOf(name, about string) openapi.Parameter {
	return inQueryOf(name, about, openapi.Of("string"))
}

// numberOf is a number of 1 or more.
func numberOf(name, about string) openapi.Parameter {
	return inQueryOf(name, about, openapi.Of("integer").With("format", "int64").With("minimum", 1))
}

// countOf is a number of 0 or more.
func countOf(name, about string) openapi.Parameter {
	return inQueryOf(name, about, openapi.Of("integer").With("format", "int64").With("minimum", 0))
}

// flagOf is true or false.
func flagOf(name, about string) openapi.Parameter {
	return inQueryOf(name, about, openapi.Of("boolean"))
}

// timeOf is a time in RFC 3339.
func timeOf(name, about string) openapi.Parameter {
	return inQueryOf(name, about, openapi.Of("string").With("format", "date-time"))
}

// choiceOf is one of a few texts, the first of them where none is given, unless that is empty.
func choiceOf(name, about string, texts ...string) openapi.Parameter {
	schema := openapi.Of("string")
	if texts[0] == "" {
		texts = texts[1:]
	} else {
		schema = schema.With("default", texts[0])
	}
	return inQueryOf(name, about, schema.With("enum", texts))
}

// required is a parameter that must be given.
func required(p openapi.Parameter) openapi.Parameter {
	p.Required = true
	return p
}

// attributesOf are all filters attr.<name>.
func attributesOf() openapi.Parameter {
	return inQueryOf(attributePrefix,
		"Any number of `attr.NAME=text`: the attribute of this name has this text, or this compact JSON.",
		openapi.Of("object").With("propertyNames",
			openapi.Schema{{Name: "pattern", Value: `^attr\.`}}).With("additionalProperties", openapi.Of("string")))
}

// pageOf are the parameters of a list in pages of 100.
func pageOf() []openapi.Parameter {
	return []openapi.Parameter{
		inQueryOf("limit", "How many entries the page has at most.",
			openapi.Of("integer").With("format", "int64").With("minimum", 1).With("maximum", maxPage).With("default",
				defaultPage)),
		cursorOfPage(),
	}
}

// pageBefore are those of a list that goes on before a number.
func pageBefore(about string) []openapi.Parameter {
	return []openapi.Parameter{pageOf()[0], numberOf("before", about)}
}

func cursorOfPage() openapi.Parameter {
	return textOf("cursor", "Continue behind the page whose `next` this was.")
}

// lockIDOf names the lock that the caller holds.
func lockIDOf() openapi.Parameter {
	return textOf("ID", "The ID of the lock that the caller holds.")
}

func reasonOf() openapi.Parameter {
	return textOf("reason", "Why, in 1 to 1,000 characters; it is recorded.")
}

// diffOf are the parameters of a difference of states.
func diffOf() []openapi.Parameter {
	return []openapi.Parameter{
		flagOf("sensitive", "Show sensitive values too."),
		choiceOf("format", "JSON, or text for people.", "json", "text"),
	}
}

// recordFilters are what every reader of records may ask.
func recordFilters() []openapi.Parameter {
	return []openapi.Parameter{
		textOf("provider", "Exactly this provider."), textOf("category", "Exactly this category."),
		textOf("resource_type", "Exactly this type."), textOf("resource_name", "Exactly this name."),
		timeOf("since", "Recorded at or after this time."), timeOf("until", "Recorded before this time."), attributesOf(),
		numberOf("limit", "At most so many records; all without it."),
		choiceOf("escape", "With `Accept: text/csv`: an apostrophe before what a spreadsheet takes for a formula.", "",
			"spreadsheet"),
	}
}

func headerOf(name, about string) openapi.Parameter {
	return openapi.Parameter{Name: name, In: "header", Description: about, Schema: openapi.Of("string")}
}

// conditionsOf tie a change to what there is.
func conditionsOf() []openapi.Parameter {
	return []openapi.Parameter{
		headerOf("If-Match", "Only over the state with one of these tags, or over any for `*`."),
		headerOf("If-None-Match", "Only over a state with none of these tags, or only where there is none for `*`."),
	}
}

func idempotencyOf() openapi.Parameter {
	p := headerOf("Idempotency-Key",
		"The same in a repeated call, which then does nothing again and has the first one's answer.")
	p.Schema = p.Schema.With("minLength", 1).With("maxLength", maxKey)
	return p
}

// pathParameters describes the places in a route's path.
func pathParameters(path string) (all []openapi.Parameter) {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			all = append(all, pathParameter(path, name))
		}
	}
	return all
}

func pathParameter(path, name string) openapi.Parameter {
	about, schema := "", openapi.Of("string")
	switch {
	case name == "project":
		about = "The project's name, which is its workspace's, with `%2F` for a `/`; or its ID, a UUID."
	case name == "name" && strings.Contains(path, "/infra/"):
		about = "The file's name, with `%2F` for a `/`."
	case name == "name" && strings.Contains(path, "/workspaces/"):
		about = "The workspace's name, which is its state's. A `/` in it may stand as it is, or as `%2F`."
	case name == "name":
		about = "The state's name: segments of letters, digits and `. _ - ~`, joined by `/`. At Holdfast's own addresses a " +
			"`/` may stand as it is, or as `%2F`."
	case name == "enclave", name == "partition":
		about = "One segment of the state's name, which is `enclave/partition`."
	case name == "alias":
		about = "What the organization goes by at the other server: one of its `alias` lines in auth.cfg."
	case name == "id" && strings.Contains(path, "/runs/"):
		about, schema = "The run's ID, a ULID.", schema.With("pattern", "^[0-9A-HJKMNP-TV-Z]{26}$")
	case name == "id":
		about, schema = "The candidate's ID.", schema.With("pattern", "^[0-9a-f]{16}$")
	case name == "version":
		about, schema = "The version's number.", openapi.Of("integer").With("format", "int64").With("minimum", 1)
	case name == "serial":
		about, schema = "A version's serial; of several, the newest counts.",
			openapi.Of("integer").With("format", "int64").With("minimum", 0)
	case name == "attempt":
		about, schema = "The attempt, from 1.", openapi.Of("integer").With("format", "int64").With("minimum", 1)
	case name == "key":
		about = "The output's name."
	case name == "snapshot":
		about = "The snapshot's number or ID, or `newest`."
	case name == "digest":
		about, schema = "The content's SHA-256, in hexadecimal.", schema.With("pattern", "^[0-9a-f]{64}$")
	case name == "path":
		about = "The file's path. A `/` in it may stand as it is, or as `%2F`."
	case name == "address":
		about = "The resource's address, as one segment: `[0]` is `%5B0%5D`."
	case name == "pool":
		about = "The pool's name."
	case name == "organization":
		about, schema = "The UUID of the organization that the pool is lent to.", schema.With("format", "uuid")
	case name == "agent":
		about = "The agent's ID."
	case name == "stream":
		about, schema = "The log of which stage.", schema.With("enum", []string{"plan", "apply"})
	case name == "kind":
		about, schema = "What kind of file.", openapi.Ref("ArtefactKind")
	}
	return openapi.Parameter{Name: name, In: "path", Description: about, Required: true, Schema: schema}
}

// stateSchema describes the bytes of a state, as far as they are read here.
func stateSchema() openapi.Schema {
	return openapi.Of("object").
		With("description", "A state, which is the client's own: `serial` and `lineage` are read, everything else is "+
			"kept as it is.").
		With("properties", openapi.Schema{
			{Name: "serial", Value: openapi.Of("integer").With("minimum", 0)},
			{Name: "lineage", Value: openapi.Of("string")},
		}).With("additionalProperties", true)
}

// anyJSON is a value of whatever type.
func anyJSON() openapi.Schema {
	return openapi.Schema{{Name: "type", Value: []string{"object", "array", "string", "number", "boolean", "null"}},
		{Name: "description", Value: "With `raw`: the value as it is."}}
}

// answerHeaders says what the headers of answers mean.
func answerHeaders() map[string]string {
	return map[string]string{
		"ETag":                "The SHA-256 of the bytes, in hexadecimal.",
		"X-Holdfast-Version":  "The number of the version.",
		"X-Holdfast-Serial":   "The serial of the version.",
		"X-Holdfast-Warning":  "What guards found in what was stored; absent for nothing.",
		"X-Holdfast-Quota":    "What is stored and may be, in bytes, where that is 80 % or more.",
		"X-Holdfast-Attempt":  "The attempt of which the log is.",
		"X-Holdfast-Snapshot": "The snapshot's ID.",
		countTrailer:          "How many records there are; a trailer of `application/x-ndjson` and `text/csv`.",
		nextTrailer:           "The cursor of what follows now; likewise.",
		lastTrailer:           "The cursor behind the newest record; likewise.",
		"X-Digest":            "The SHA-256 of the bytes, in hexadecimal.",
		"Idempotent-Replayed": "`true` for the answer to a repeated call.",
	}
}
