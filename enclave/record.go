package enclave

import (
	"encoding/json"
	"fmt"
)

// RecordPath is where a partition's record is in its configuration at the server.
const RecordPath = ".holdfast/partition.json"

// Record is what is kept of a partition beside its files: enough to take it away when its folder is gone.
type Record struct {
	Format    int      `json:"format"` // 1
	Set       string   `json:"set"`    // of folders that the partition is of
	Enclave   string   `json:"enclave"`
	Partition string   `json:"partition"`
	Name      string   `json:"name,omitempty"`
	Produces  string   `json:"produces"`
	Backend   string   `json:"backend"`
	Needs     []string `json:"needs,omitempty"` // paths of the partitions that it imports from
	// Variables are those of the workspace that the reconciler has set, as kind.name.
	Variables []string `json:"variables,omitempty"`
	// Sources are the versions of the states from which sensitive inputs come: their values can't be compared.
	Sources map[string]uint64 `json:"sources,omitempty"`
}

// recordFormat is the version of the records that are written, and the newest that is read.
const recordFormat = 1

// NewRecord is a partition's, of a set of folders.
func NewRecord(p *Partition, set string) Record {
	return Record{Format: recordFormat, Set: set, Enclave: p.Enclave.ID, Partition: p.ID, Name: p.Name,
		Produces: string(p.Produces), Backend: string(p.Backend), Needs: p.Needs()}
}

// Path is that of the partition.
func (r Record) Path() string { return r.Enclave + "/" + r.Partition }

// Text is the record as it is kept: equal for equal records.
func (r Record) Text() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// MaxRecord is the largest record that is read, in bytes.
const MaxRecord = 1 << 20

// ParseRecord reads one.
func ParseRecord(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s can't be read: %w", RecordPath, err)
	}
	if r.Format != recordFormat || r.Enclave == "" || r.Partition == "" {
		return r, fmt.Errorf("%s is of a format that this version does not know", RecordPath)
	}
	return r, nil
}
