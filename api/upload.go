package api

import (
	"encoding/json"

	"github.com/google/uuid"
)

// Upload is what a provider reports: instances of one type of resource.
type Upload struct {
	Provider     string `json:"provider"`      // letters, digits, _ and -; 1 to 255
	Category     string `json:"category"`      // likewise
	ResourceType string `json:"resource_type"` // likewise
	// Instances are 1 to 100; where there is no such member, the body itself is the one instance.
	Instances []UploadInstance `json:"instances" absent:"the body is the instance"`
}

// UploadInstance is one of the instances of an upload.
type UploadInstance struct {
	// ResourceName is made of the attributes or the type where it is absent.
	ResourceName string `json:"resource_name,omitempty"`
	// Attributes is an object; {} where it is absent.
	Attributes json.RawMessage `json:"attributes,omitempty" schema:"object"`
}

// Receipt is the answer to an upload, and to each replay of it.
type Receipt struct {
	Status         string    `json:"status" enum:"success"` // always "success"
	Message        string    `json:"message"`
	OrgID          uuid.UUID `json:"org_id"`
	InstancesCount int       `json:"instances_count"`
	// RequestID is that of the request which recorded the upload: in a replay, the first.
	RequestID string `json:"request_id"`
	// Ignored are JSON Pointers to members that mean nothing in an upload.
	Ignored []string `json:"ignored,omitempty"`
	// Masked is how many attributes, secrets by their names, were recorded as "(masked)".
	Masked int `json:"masked,omitempty"`
}

// Records is the answer with what was uploaded. Its end comes last, so that records can be
// handed on as they come: see ReadRecords.
type Records struct {
	OrgID uuid.UUID `json:"org_id"`
	Data  []Record  `json:"data"`
	RecordsEnd
}

// RecordsEnd is what an answer says of its records behind them.
type RecordsEnd struct {
	Count int     `json:"count"` // of the answer's records
	Next  *string `json:"next"`  // the cursor of what follows now; null if nothing does
	Last  *string `json:"last"`  // the cursor behind the newest record, for what is recorded later; null without one
}

// Record is a resource as it is kept.
type Record struct {
	// Timestamp is when the upload was recorded, in UTC with six digits of a second: always of
	// the same length, so that timestamps sort as text.
	Timestamp string    `json:"timestamp"`
	OrgID     uuid.UUID `json:"org_id"`
	Data      Reported  `json:"data"`
}

// Reported is one instance that a provider reported.
type Reported struct {
	Provider     string          `json:"provider"`
	Category     string          `json:"category"`
	ResourceType string          `json:"resource_type"`
	ResourceName string          `json:"resource_name"`
	Attributes   json.RawMessage `json:"attributes" schema:"object"` // an object, without white space between its tokens
}

// Summary is what an organization has uploaded, in numbers.
type Summary struct {
	OrgID  uuid.UUID `json:"org_id"`
	Count  int64     `json:"count"` // of all records
	Groups []Group   `json:"groups"`
}

// Group counts the records of one provider, category and type.
type Group struct {
	Provider     string `json:"provider"`
	Category     string `json:"category"`
	ResourceType string `json:"resource_type"`
	Count        int64  `json:"count"`
	FirstSeen    string `json:"first_seen"` // as a Record's Timestamp
	LastSeen     string `json:"last_seen"`  // as a Record's Timestamp
}
