package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/holdfast/holdfast/internal/mask"
)

// maxOutputsLine is how long the line with the outputs may be that is read here: longer ones are
// left to the tool.
const maxOutputsLine = 64 << 20

// toldOutputs returns the outputs that an apply told in its lines of JSON, as `output -json` has
// them but without the values of sensitive ones; nil if it told none. Its file may lack a middle,
// but never its end, where the outputs are.
func toldOutputs(path string) (json.RawMessage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var found json.RawMessage
	lines := bufio.NewReaderSize(file, 64<<10)
	for {
		line, err := readLine(lines, maxOutputsLine)
		if outputs := outputsIn(line); outputs != nil {
			found = outputs
		}
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// outputsIn returns the outputs that a line tells; nil for other lines.
func outputsIn(line []byte) json.RawMessage {
	if !bytes.Contains(line, []byte(`"outputs"`)) {
		return nil
	}
	var said struct {
		Type    string                     `json:"type"`
		Outputs map[string]json.RawMessage `json:"outputs"`
	}
	if json.Unmarshal(line, &said) != nil || said.Type != "outputs" || said.Outputs == nil {
		return nil
	}
	for _, one := range said.Outputs { // those of a plan have an action, and no type
		var about struct {
			Type json.RawMessage `json:"type"`
		}
		if json.Unmarshal(one, &about) != nil || about.Type == nil {
			return nil
		}
	}
	outputs, err := json.Marshal(said.Outputs)
	if err != nil {
		return nil
	}
	return outputs
}

// readLine reads a line without its end. Of one that is too long it returns nothing, once it has
// gone over it.
func readLine(from *bufio.Reader, longest int) (line []byte, err error) {
	tooLong := false
	for {
		part, err := from.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > longest {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// maskOutputs writes outputs again, masked, and the sensitive ones without their values.
func (s *stage) maskOutputs(from, to string) error {
	raw, err := openRegular(s.folder, from)
	if err != nil {
		return err
	}
	defer raw.Close()
	return writeFile(to, func(f *os.File) error {
		out := bufio.NewWriter(f)
		return errors.Join(maskOutputs(out, json.NewDecoder(raw), s.masker), out.Flush())
	})
}

func maskOutputs(to *bufio.Writer, from *json.Decoder, m *mask.Masker) error {
	if begin, err := from.Token(); err != nil || begin != json.Delim('{') {
		return errors.Join(err, &unusable{"the outputs are no object"})
	}
	between := "{"
	for from.More() {
		name, err := from.Token()
		if err != nil {
			return err
		}
		var one struct {
			Sensitive *bool           `json:"sensitive,omitempty"`
			Type      json.RawMessage `json:"type,omitempty"`
			Value     json.RawMessage `json:"value,omitempty"`
		}
		if err := from.Decode(&one); err != nil {
			return err
		}
		switch {
		case one.Sensitive == nil || *one.Sensitive:
			one.Value = nil
		case one.Value != nil:
			if one.Value, err = m.JSON(one.Value); err != nil {
				return err
			}
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(one)
		if err != nil {
			return err
		}
		_, _ = to.WriteString(between + string(quoted) + ":" + string(raw)) // the flush has the error
		between = ","
	}
	if _, err := from.Token(); err != nil {
		return err
	}
	if between == "{" {
		_, _ = to.WriteString(between)
	}
	_, _ = to.WriteString("}")
	return nil
}
