package inventory

import (
	"time"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// TimeLayout is how timestamps are written: RFC 3339 in UTC, always of the same length,
// so that they sort as text.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// AppendTime appends a timestamp.
func AppendTime(dst []byte, at time.Time) []byte { return at.UTC().AppendFormat(dst, TimeLayout) }

// AppendJSON appends the record as readers get it. Attributes go out as they came in:
// encoding/json would escape < and & in them.
func (r Record) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"timestamp":"`...)
	dst = AppendTime(dst, r.Timestamp)
	dst = append(dst, `","org_id":"`...)
	dst = append(dst, r.Org.String()...)
	dst = append(dst, `","data":`...)
	dst = r.Resource.appendJSON(dst)
	return append(dst, '}')
}

func (r Resource) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"provider":`...)
	dst = jsonscan.AppendQuote(dst, r.Provider)
	dst = append(dst, `,"category":`...)
	dst = jsonscan.AppendQuote(dst, r.Category)
	dst = append(dst, `,"resource_type":`...)
	dst = jsonscan.AppendQuote(dst, r.ResourceType)
	dst = append(dst, `,"resource_name":`...)
	dst = jsonscan.AppendQuote(dst, r.ResourceName)
	dst = append(dst, `,"attributes":`...)
	dst = append(dst, r.Attributes...)
	return append(dst, '}')
}
