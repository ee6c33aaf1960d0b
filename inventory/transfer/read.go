package transfer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// maxLine is longer than any record that an upload can make.
const maxLine = 32 << 20

// LineError says where a file can't be read as records.
type LineError struct {
	Line int64
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// ReadNDJSON reads records as JSON lines, as the service and exports write them. Each must
// be one that could have been uploaded. An error, a *LineError but for the source's own,
// ends the sequence.
func ReadNDJSON(src io.Reader) iter.Seq2[inventory.Record, error] {
	return func(yield func(inventory.Record, error) bool) {
		lines := bufio.NewScanner(src)
		lines.Buffer(nil, maxLine)
		number := int64(0)
		for lines.Scan() {
			number++
			record, err := parseLine(lines.Bytes())
			if err != nil {
				yield(inventory.Record{}, &LineError{number, err})
				return
			}
			if !yield(record, nil) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(inventory.Record{}, &LineError{number + 1, errors.New("the line is longer than any record")})
		} else if err != nil {
			yield(inventory.Record{}, err)
		}
	}
}

func parseLine(line []byte) (inventory.Record, error) {
	var parts struct {
		Timestamp string          `json:"timestamp"`
		OrgID     string          `json:"org_id"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(line, &parts); err != nil {
		return inventory.Record{}, errors.New("it is not a record in JSON: timestamp, org_id, data")
	}
	return makeRecord(parts.Timestamp, parts.OrgID, parts.Data)
}

// makeRecord checks the parts of a record. What was reported is checked as an upload of
// that one resource.
func makeRecord(timestamp, org string, report []byte) (inventory.Record, error) {
	at, err := parseTime(timestamp)
	if err != nil {
		return inventory.Record{}, err
	}
	id, err := uuid.Parse(org)
	if err != nil || id == uuid.Nil {
		return inventory.Record{}, errors.New("org_id is not an organization's UUID")
	}
	upload, err := inventory.Parse(report)
	if err != nil {
		return inventory.Record{}, plain(err)
	}
	if len(upload.Resources) != 1 {
		return inventory.Record{}, errors.New("it has more than one resource")
	}
	return inventory.Record{Timestamp: at, Org: id, Resource: upload.Resources[0]}, nil
}

// parseTime reads a timestamp to the microsecond. MySQL has no years before 1000.
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, errors.New("timestamp is not in RFC 3339")
	}
	at = at.UTC().Truncate(time.Microsecond)
	if at.Year() < 1000 || at.Year() > 9999 {
		return time.Time{}, errors.New("timestamp is not in the years 1000 to 9999")
	}
	return at, nil
}

// plain says what is wrong with a report, without what only an upload's sender can use.
func plain(err error) error {
	f := fault.From(err)
	if len(f.Details) == 0 {
		return err
	}
	rules := make([]string, len(f.Details))
	for i, d := range f.Details {
		rules[i] = strings.TrimSpace(strings.TrimPrefix(d.Pointer, "/") + " " + d.Rule)
	}
	return errors.New(strings.Join(rules, "; "))
}
