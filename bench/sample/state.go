package sample

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed resources.tmpl
var resources string

const (
	// MinState is the smallest state that New makes, in bytes.
	MinState = 2_000
	// firstSerial has as many digits as all that follow, so that a change moves no byte.
	firstSerial = 1_000_000
	// edits is how many resources change from one version to the next.
	edits = 4

	stateHead = `{
  "version": 4,
  "terraform_version": "1.12.6",
  "serial": %d,
  "lineage": "%s",
  "outputs": {
    "endpoint": {
      "value": "https://blue.example.com",
      "type": "string"
    }
  },
  "resources": [
`
	// The last resource has a text that makes the size exact.
	stateTail = `    {
      "mode": "managed",
      "type": "terraform_data",
      "name": "bootstrap",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {
            "id": "5f8d0c11-6a5e-4c0b-8a57-0c1e6b2f9d34",
            "input": {
              "type": "string",
              "value": "%s"
            },
            "output": null,
            "triggers_replace": null
          },
          "sensitive_attributes": []
        }
      ]
    }
  ],
  "check_results": null
}
`
	script = "#cloud-config package_update: true packages: [curl, jq, unattended-upgrades] runcmd: [systemctl enable " +
		"--now agent] "
)

// State is a state as Terraform writes it. It is not safe for concurrent use.
type State struct {
	document
	serial   uint64
	serialAt int
}

// NewState returns a state of size bytes, at least MinState. Another seed makes other
// identifiers and another lineage.
func NewState(size int, seed uint64) *State {
	s := &State{document: newDocument(size, seed), serial: firstSerial}
	lineage := make([]byte, 32)
	s.fill(lineage)
	s.body = fmt.Appendf(s.body, stateHead, s.serial,
		fmt.Sprintf("%s-%s-4%s-8%s-%s", lineage[:8], lineage[8:12], lineage[13:16], lineage[17:20], lineage[20:]))
	s.serialAt = strings.Index(string(s.body), fmt.Sprint(s.serial))
	kinds := kinds()
	end := size - len(stateTail) + len("%s")
	for i := 0; ; i++ {
		before, count := len(s.body), len(s.resources)
		s.add(kinds[s.random.IntN(len(kinds))], i)
		s.body = append(s.body, ",\n"...)
		if len(s.body) > end {
			s.body, s.resources = s.body[:before], s.resources[:count]
			break
		}
	}
	s.body = fmt.Appendf(s.body, stateTail, text(max(0, end-len(s.body))))
	return s
}

func kinds() (all []template) {
	for kind := range strings.SplitSeq(strings.TrimSuffix(resources, "\n"), "\n---\n") {
		all = append(all, parseTemplate(kind))
	}
	return all
}

func text(n int) string { return strings.Repeat(script, n/len(script)+1)[:n] }

// Bytes returns the state as it stands, until the next Change.
func (s *State) Bytes() []byte { return s.body }

// Serial returns its serial.
func (s *State) Serial() uint64 { return s.serial }

// Change makes the next version in place: a serial one higher, and a few resources with
// other attributes. The size stays the same.
func (s *State) Change() {
	s.serial++
	copy(s.body[s.serialAt:], fmt.Sprint(s.serial))
	for range min(edits, len(s.resources)) {
		s.change()
	}
}
