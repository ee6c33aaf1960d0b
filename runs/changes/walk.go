package changes

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/holdfast/holdfast/fault"
)

// kind is what a value is that the walker hands over whole.
type kind int

const (
	kindOther          kind = iota // of which nothing is known
	kindMisplaced                  // where the format has an object or an array; it may be null
	kindHead                       // a member of the document itself
	kindChange                     // of resource_changes
	kindDrift                      // of resource_drift
	kindOutputChange               // of output_changes
	kindVariable                   // of variables: a value
	kindResource                   // of a state
	kindOutput                     // of a state
	kindProvider                   // of the configuration
	kindDeclaration                // of the configuration: a variable of the root module
	kindInnerVariable              // of the configuration: a variable of another module
	kindConfigResource             // of the configuration
)

// walker goes through a plan's JSON down to the values that are small enough to be held, one
// resource or variable at a time, and hands these over.
type walker struct {
	in    *jsontext.Decoder
	gauge *gauge
	to    *handover
}

// walk has a taker given all of a plan's JSON, which nothing may follow. To read and to take are each work of their
// own, and go on side by side.
func walk(r io.Reader, limits Limits, t taker, options ...jsontext.Options) error {
	r, err := begins(r)
	if err != nil {
		return err
	}
	g := &gauge{r: r, bytes: limits.Bytes, value: limits.Value}
	g.begin(0)
	w := &walker{in: jsontext.NewDecoder(g, options...), gauge: g, to: newHandover(t)}
	err = w.document()
	if at, taken := w.to.end(); taken != nil {
		return asFault(taken, at) // it came to this before
	}
	return err
}

// begins reads over what may stand before a plan's JSON: a byte order mark, and white space. It names what is no plan
// by its first bytes.
func begins(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")),
		len(head) > 1 && (head[0] == 0 || head[1] == 0):
		return nil, invalid("it is in UTF-16, as PowerShell's > writes it; it has to be in UTF-8")
	}
	for {
		switch first, err := in.ReadByte(); {
		case err == io.EOF:
			return nil, invalid("it is empty, so it has no JSON")
		case err != nil:
			return nil, err
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(first)):
			return in, in.UnreadByte()
		}
	}
}

func (w *walker) document() error {
	err := w.object("", func(name string) error {
		switch name {
		case "resource_changes":
			return w.array(func() error { return w.value(kindChange, "") })
		case "resource_drift":
			return w.array(func() error { return w.value(kindDrift, "") })
		case "output_changes":
			return w.each(kindOutputChange)
		case "variables":
			return w.each(kindVariable)
		case "planned_values":
			return w.stateValues()
		case "prior_state":
			return w.object(name, func(name string) error {
				if name == "values" {
					return w.stateValues()
				}
				return w.value(kindOther, name)
			})
		case "configuration":
			return w.configuration()
		}
		return w.value(kindHead, name)
	})
	if err != nil {
		return w.fault(err)
	}
	if _, err := w.in.ReadToken(); err != io.EOF {
		return invalid("something follows the plan")
	}
	return nil
}

func (w *walker) stateValues() error {
	return w.object("", func(name string) error {
		switch name {
		case "outputs":
			return w.each(kindOutput)
		case "root_module":
			return w.stateModule()
		}
		return w.value(kindOther, name)
	})
}

func (w *walker) stateModule() error {
	return w.object("", func(name string) error {
		switch name {
		case "resources":
			return w.array(func() error { return w.value(kindResource, "") })
		case "child_modules":
			return w.array(w.stateModule)
		}
		return w.value(kindOther, name)
	})
}

func (w *walker) configuration() error {
	return w.object("", func(name string) error {
		switch name {
		case "provider_config":
			return w.each(kindProvider)
		case "root_module":
			return w.configModule(kindDeclaration)
		}
		return w.value(kindOther, name)
	})
}

func (w *walker) configModule(variables kind) error {
	return w.object("", func(name string) error {
		switch name {
		case "resources":
			return w.array(func() error { return w.value(kindConfigResource, "") })
		case "variables":
			return w.each(variables)
		case "module_calls":
			return w.object("", func(string) error {
				return w.object("", func(name string) error {
					if name == "module" {
						return w.configModule(kindInnerVariable)
					}
					return w.value(kindOther, name)
				})
			})
		}
		return w.value(kindOther, name)
	})
}

// each hands over each member of the object at hand.
func (w *walker) each(kind kind) error {
	return w.object("", func(name string) error { return w.value(kind, name) })
}

// object goes through the object at hand, whose values child takes. What is no object is handed
// over as a value of another kind: it may be null.
func (w *walker) object(name string, child func(name string) error) error {
	if w.in.PeekKind() != '{' {
		return w.value(kindMisplaced, name)
	}
	if _, err := w.token(); err != nil {
		return err
	}
	for w.in.PeekKind() == '"' {
		token, err := w.token()
		if err != nil {
			return err
		}
		if err := child(token.String()); err != nil {
			return err
		}
	}
	_, err := w.token()
	return err
}

func (w *walker) array(child func() error) error {
	if w.in.PeekKind() != '[' {
		return w.value(kindMisplaced, "")
	}
	if _, err := w.token(); err != nil {
		return err
	}
	for w.in.PeekKind() != ']' {
		if err := child(); err != nil {
			return err
		}
	}
	_, err := w.token()
	return err
}

// token passes a bracket or a name on. The name is good until the next token is read.
func (w *walker) token() (jsontext.Token, error) {
	w.gauge.begin(w.in.InputOffset())
	token, err := w.in.ReadToken()
	if err != nil {
		return token, err
	}
	token = token.Clone()
	return token, w.to.token(token, w.in.InputOffset())
}

func (w *walker) value(kind kind, name string) error {
	w.gauge.begin(w.in.InputOffset())
	value, err := w.in.ReadValue()
	if err != nil {
		return err
	}
	if int64(len(value)) > w.gauge.value {
		return w.gauge.tooLarge()
	}
	return w.to.value(kind, name, value, w.in.InputOffset())
}

// fault makes a fault of an error about the JSON.
func (w *walker) fault(err error) error {
	if w.gauge.err != nil {
		return w.gauge.err
	}
	return asFault(err, w.in.InputOffset())
}

// asFault makes a fault of an error about the JSON up to an offset. The decoder's own words could quote it.
func asFault(err error, at int64) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	_, syntactic := errors.AsType[*jsontext.SyntacticError](err)
	if syntactic || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid("it is no JSON from byte %d on", at)
	}
	return err
}

// gauge bounds what is read of the whole, and what is read ahead for one value.
type gauge struct {
	r            io.Reader
	bytes, value int64
	read         int64
	until        int64
	err          error // what the reader or a limit said, which the decoder wraps
}

// begin says where the next value begins. Ahead of it the decoder reads twice as much as it holds.
func (g *gauge) begin(offset int64) { g.until = offset + 2*g.value + 1<<20 }

func (g *gauge) Read(p []byte) (int, error) {
	switch {
	case g.read > g.bytes:
		g.err = tooLarge("the plan's JSON has more than %d bytes", g.bytes)
	case g.read > g.until:
		g.err = g.tooLarge()
	}
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.r.Read(p)
	g.read += int64(n)
	if err != nil && err != io.EOF {
		g.err = err
	}
	return n, err
}

func (g *gauge) tooLarge() error {
	return tooLarge("a value in the plan's JSON has more than %d bytes", g.value)
}

func tooLarge(format string, args ...any) error {
	return fault.New(fault.PlanJSONTooLarge, format, args...)
}

func invalid(format string, args ...any) error {
	return fault.New(fault.PlanJSONInvalid, "the plan's JSON is not what show -json prints: "+format, args...)
}
