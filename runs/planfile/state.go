package planfile

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// read reads the head of a state, whose resources it passes over. The tools find members
// whatever their case and take the last of several, so a member that is spelled otherwise would
// let them see another lineage than is seen here: it is refused, as is one that comes twice.
func (s *State) read(r io.Reader) error {
	decoder := jsontext.NewDecoder(r)
	err := eachMember(decoder, func(name string) error {
		known := strings.ToLower(foldName(name))
		switch known {
		case "version", "lineage", "serial", "terraform_version":
			if name != known {
				return errors.New("a member's name is spelled wrongly")
			}
			return s.set(name, decoder)
		}
		return decoder.SkipValue()
	})
	if err == nil {
		_, err = decoder.ReadToken()
		if err == io.EOF {
			return nil
		}
	}
	return invalid("the plan file has a state that can't be read")
}

func (s *State) set(name string, decoder *jsontext.Decoder) error {
	token, err := decoder.ReadToken()
	if err != nil {
		return err
	}
	text := token.String()
	switch {
	case name == "serial" && token.Kind() == '0':
		s.Serial, err = strconv.ParseUint(text, 10, 64)
		return err
	case name == "version" && text == "4":
		return nil
	case name == "lineage" && token.Kind() == '"' && len(text) <= maxField:
		s.Lineage = strings.Clone(text)
		return nil
	case name == "terraform_version" && token.Kind() == '"' && len(text) <= maxField:
		s.ToolVersion = strings.Clone(text)
		return nil
	}
	return errors.New("a member has another type")
}

// eachMember calls visit for each member of the object at hand; visit takes the value.
func eachMember(decoder *jsontext.Decoder, visit func(name string) error) error {
	begin, err := decoder.ReadToken()
	if err != nil {
		return err
	}
	if begin.Kind() != '{' {
		return errors.New("no object")
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := visit(name.String()); err != nil {
			return err
		}
	}
	_, err = decoder.ReadToken()
	return err
}

// foldName replaces the two letters beyond ASCII that fold to one of it, as the tools' decoder does.
func foldName(name string) string {
	return strings.NewReplacer("\u017f", "s", "\u212a", "k").Replace(name)
}
