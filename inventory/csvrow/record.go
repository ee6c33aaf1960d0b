package csvrow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/inventory"
)

const (
	// Header is the first row of a file of records.
	Header = "timestamp,org_id,provider,category,resource_type,resource_name,attributes\r\n"

	columns = 7
)

// IsHeader reports whether the row is Header, whatever its line end.
func IsHeader(row *Row) bool {
	names := strings.Split(strings.TrimSuffix(Header, "\r\n"), ",")
	return slices.EqualFunc(row.Fields, names, func(field []byte, name string) bool { return string(field) == name })
}

// Fields returns the record's fields in the order of Header.
func Fields(r inventory.Record) []string {
	return []string{string(inventory.AppendTime(nil, r.Timestamp)), r.Org.String(),
		r.Provider, r.Category, r.ResourceType, r.ResourceName, string(r.Attributes)}
}

// Encoder turns records into rows. Its zero value is ready.
type Encoder struct {
	// Neighbours are alike in all that stands before the name, which is made once: with the
	// timestamp alone a row took a fifth longer.
	start []byte
	alike inventory.Record
}

// Append appends the record's row.
func (e *Encoder) Append(dst []byte, r inventory.Record) []byte {
	if !e.startsAlike(&r) {
		e.begin(&r)
	}
	dst = append(dst, e.start...)
	dst = AppendField(dst, r.ResourceName)
	dst = append(dst, ',')
	dst = AppendField(dst, r.Attributes)
	return append(dst, "\r\n"...)
}

func (e *Encoder) startsAlike(r *inventory.Record) bool {
	return len(e.start) > 0 && r.Timestamp.Equal(e.alike.Timestamp) && r.Org == e.alike.Org &&
		r.Provider == e.alike.Provider && r.Category == e.alike.Category && r.ResourceType == e.alike.ResourceType
}

func (e *Encoder) begin(r *inventory.Record) {
	e.alike = *r
	e.start = inventory.AppendTime(e.start[:0], r.Timestamp)
	e.start = append(append(e.start, ','), r.Org.String()...)
	for _, field := range [...]string{r.Provider, r.Category, r.ResourceType} {
		e.start = AppendField(append(e.start, ','), field)
	}
	e.start = append(e.start, ',')
}

// AppendRecord appends the row of one record.
func AppendRecord(dst []byte, r inventory.Record) []byte {
	var e Encoder
	return e.Append(dst, r)
}

// Decoder turns rows of one organization into records.
type Decoder struct {
	org  uuid.UUID
	text string
	last inventory.Record // neighbours are alike: their texts are shared
}

// NewDecoder returns a Decoder for rows of org.
func NewDecoder(org uuid.UUID) *Decoder { return &Decoder{org: org, text: org.String()} }

// Decode returns the row's record, which does not refer to the row's bytes. It checks
// the columns, the organization and the timestamp, and leaves the attributes to
// CheckAttributes.
func (d *Decoder) Decode(row *Row) (inventory.Record, error) {
	if len(row.Fields) != columns {
		return inventory.Record{}, fmt.Errorf("the row has %d columns, not %d", len(row.Fields), columns)
	}
	at, err := parseTime(row.Fields[0])
	if err != nil {
		return inventory.Record{}, err
	}
	if string(row.Fields[1]) != d.text && !strings.EqualFold(string(row.Fields[1]), d.text) {
		return inventory.Record{}, errors.New("org_id is another organization's")
	}
	d.last.Timestamp, d.last.Org = at, d.org
	reuse(&d.last.Provider, row.Fields[2])
	reuse(&d.last.Category, row.Fields[3])
	reuse(&d.last.ResourceType, row.Fields[4])
	reuse(&d.last.ResourceName, row.Fields[5])
	d.last.Attributes = inventory.Compact(row.Fields[6]) // another program may have written white space
	return d.last, nil
}

// reuse sets text, unless it is already right: most fields are as in the row before.
func reuse(text *string, field []byte) {
	if *text != string(field) {
		*text = string(field)
	}
}

// parseTime reads a timestamp to the microsecond.
func parseTime(field []byte) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, string(field))
	if err != nil {
		return time.Time{}, errors.New("timestamp is not in RFC 3339")
	}
	return at.UTC().Truncate(time.Microsecond), nil
}

// CheckAttributes says whether the row's attributes are one JSON object.
func CheckAttributes(row *Row) error {
	if jsonscan.Object(row.Fields[columns-1], jsonscan.Limits{}, nil) != nil {
		return errors.New("attributes is not a JSON object")
	}
	return nil
}
