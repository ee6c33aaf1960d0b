package api

import "time"

// Policies are bundles of policies, by workspace and name.
type Policies struct {
	Policies []Policy `json:"policies"`
}

// Policy is one version of a bundle of policies, waivers or prices.
type Policy struct {
	Name      string    `json:"name"`
	Workspace string    `json:"workspace,omitempty"` // that it is for; empty for all of the organization's
	Version   int64     `json:"version"`             // from 1
	Digest    string    `json:"digest"`              // SHA-256 of its files
	Enforce   string    `json:"enforce" enum:"advise|hold|refuse"`
	Message   string    `json:"message,omitempty"`
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Rules     int       `json:"rules"` // packages with deny, violation or warn
	Tests     int       `json:"tests"` // all of which have passed
	CreatedAt time.Time `json:"created_at"`
	CreatedBy Actor     `json:"created_by"`
}

// PolicyFile is a file of a bundle: a policy in Rego, or waivers.yaml or prices.csv.
type PolicyFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// PolicyOrder is a version of a bundle that is to be kept.
type PolicyOrder struct {
	Files []PolicyFile `json:"files"`
	// Enforce is what becomes of a plan that the bundle denies: advise, without it, lists findings, hold has
	// the plan wait for somebody who may approve, refuse has the run fail.
	Enforce string `json:"enforce,omitempty" enum:"advise|hold|refuse"`
	Message string `json:"message,omitempty"` // why, for people
}

// PolicyBundle is a version of a bundle with its files.
type PolicyBundle struct {
	Policy   Policy       `json:"policy"`
	Contents []PolicyFile `json:"contents"`
	Versions []Policy     `json:"versions"` // that are kept, the newest first
}
