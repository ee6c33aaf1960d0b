package handlers

import (
	"context"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
)

// outputs shows the outputs of the newest version.
func (s states) outputs(ctx context.Context, r *request, name state.Name) (answer, error) {
	ask := state.OutputsQuery{Sensitive: r.flag("sensitive")}
	if err := r.err(); err != nil {
		return nil, err
	}
	shown, err := s.service.Outputs(ctx, r.caller, name, ask, writeOutputs)
	if err != nil {
		return s.absentOr(nil, err)
	}
	return rendered{mediaJSON, shown, numbers(shown.Version)}, nil
}

// writeOutputs writes {"outputs":{…}}. The values go out as they are in the state.
func writeOutputs(w io.Writer, all []document.Output) error {
	separator := `{"outputs":{`
	for i := range all {
		name := jsonscan.AppendQuote([]byte(separator), all[i].Name)
		if _, err := w.Write(append(name, ':')); err != nil {
			return err
		}
		if err := writeOutput(w, &all[i]); err != nil {
			return err
		}
		separator = ","
	}
	if len(all) == 0 {
		_, err := io.WriteString(w, separator+"}}\n")
		return err
	}
	_, err := io.WriteString(w, "}}\n")
	return err
}

// writeOutput writes an api.Output, piece by piece: encoding a large value at once would take it
// several times more in memory, which nobody has acquired.
func writeOutput(w io.Writer, o *document.Output) error {
	end := strconv.AppendBool([]byte(`,"sensitive":`), o.Sensitive)
	if o.Deprecated != "" {
		end = jsonscan.AppendQuote(append(end, `,"deprecated":`...), o.Deprecated)
	}
	for _, piece := range [][]byte{[]byte(`{"value":`), jsonOrNull(o.Value), []byte(`,"type":`), jsonOrNull(o.Type),
		append(end, '}')} {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// jsonOrNull is what stands for a value that a state does not have.
func jsonOrNull(value []byte) []byte {
	if len(value) == 0 {
		return []byte("null")
	}
	return value
}

// output shows one output; with ?raw a string as its text, any other value as its JSON.
func (s states) output(ctx context.Context, r *request, name state.Name) (answer, error) {
	key, raw, media := r.inPath("key"), r.flag("raw"), mediaJSON
	if !isIdentifier(key) {
		r.invalid("an output's name has letters, digits, - and _, and does not begin with a digit or -")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	shown, err := s.service.Outputs(ctx, r.caller, name, state.OutputsQuery{Key: key},
		func(w io.Writer, found []document.Output) (err error) {
			if raw {
				media, err = writeRaw(w, found[0].Value)
				return err
			}
			return writeOutput(w, &found[0])
		})
	if err != nil {
		return s.absentOr(nil, err)
	}
	return rendered{media, shown, numbers(shown.Version)}, nil
}

// writeRaw writes the text of a string, and any other value as its JSON. It returns which
// media type that is.
func writeRaw(w io.Writer, value []byte) (media string, err error) {
	media = mediaJSON
	if text, ok := jsonscan.Unquote(value); ok {
		media, value = "text/plain; charset=utf-8", text
	}
	_, err = w.Write(value)
	return media, err
}

// isIdentifier reports whether the clients take a text for an output's name.
func isIdentifier(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return utf8.ValidString(text) && (unicode.IsLetter(first) || first == '_') &&
		!strings.ContainsFunc(text, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Pc) && r != '-'
		})
}
