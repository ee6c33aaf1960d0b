package configs

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
)

const sourceDefault = "default"

// Effective is one setting as it is in force, for people to read.
type Effective struct {
	Section string
	Key     string
	Value   string // as it was written; a secret is masked
	Source  string // "default", "file …", "environment …", "flag …" or "implied by …"
}

func effective(settings []setting, last map[string]value) []Effective {
	list := make([]Effective, len(settings))
	for i, s := range settings {
		v := last[s.name()]
		list[i] = Effective{s.section, s.key, v.text, v.source}
		if s.secret {
			list[i].Value = Secret{v.text}.mask()
		}
	}
	return list
}

// Describe lists every setting with its value and where that came from.
func (s Settings) Describe() []Effective { return slices.Clone(s.effective) }

// IsSet reports whether a file, the environment or a flag has said what a setting is.
func (s Settings) IsSet(section, key string) bool {
	return slices.ContainsFunc(s.effective, func(e Effective) bool {
		return e.Section == section && e.Key == key && e.Source != sourceDefault
	})
}

// LogValue groups the settings by section; what is not a default names its source.
func (s Settings) LogValue() slog.Value { return grouped(s.effective) }

// Chosen is LogValue of the settings that somebody has chosen.
func (s Settings) Chosen() slog.Value {
	return grouped(slices.DeleteFunc(s.Describe(), func(e Effective) bool { return e.Source == sourceDefault }))
}

func grouped(settings []Effective) slog.Value {
	var groups []slog.Attr
	for rest := settings; len(rest) > 0; {
		section := rest[0].Section
		var keys []slog.Attr
		for len(rest) > 0 && rest[0].Section == section {
			keys = append(keys, slog.String(rest[0].Key, rest[0].String()))
			rest = rest[1:]
		}
		groups = append(groups, slog.Attr{Key: section, Value: slog.GroupValue(keys...)})
	}
	return slog.GroupValue(groups...)
}

// String returns the value, followed by its source unless that is the default.
func (e Effective) String() string {
	if e.Source == sourceDefault {
		return e.Value
	}
	return e.Value + " (" + e.Source + ")"
}

// Secret is text that does not show when it is printed, logged or marshalled.
type Secret struct{ text string }

// Reveal returns the text itself.
func (s Secret) Reveal() string { return s.text }

// Format prints stars, whatever the verb; nothing for an empty secret, which hides
// nothing and is worth seeing in a log.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.mask()) }

// MarshalText masks the secret in JSON and in the log.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.mask()), nil }

func (s Secret) mask() string {
	if s.text == "" {
		return ""
	}
	return "***"
}
