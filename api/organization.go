package api

// OrganizationSettings is what auth.cfg says of an organization but of credentials. Its limits are in Identity.
type OrganizationSettings struct {
	// Version is another one when somebody has changed Settings; a change names the one that it was made of.
	Version string `json:"version"`
	// Settings are how states are kept that no section is about.
	Settings []OrganizationSetting `json:"settings"`
	// StateAccess is how much of these states people are shown.
	StateAccess string `json:"state_access" enum:"full|summary|internal"`
	// Sections are about some states, in the order of the file: of those that match, the last that says something
	// holds. Null for keys for some states, as they have names of others.
	Sections []StatesSection `json:"sections" null:"yes"`
	// Aliases are what other servers call it; null for keys for some states.
	Aliases []OrganizationAlias `json:"aliases" null:"yes"`
	// RunsLocal says that the server itself executes the organization's runs.
	RunsLocal bool `json:"runs_local"`
	// AuditDays is for how many days entries of the audit log are kept; 0 for ever.
	AuditDays int `json:"audit_days"`
	// UploadDays is for how many days records of uploads are kept; 0 for ever.
	UploadDays int `json:"upload_days"`
	// Notices says how notices are posted; null where they go nowhere.
	Notices *NoticeSettings `json:"notices"`
	// Decisions says how a service outside is asked about plans; null for none.
	Decisions *DecisionSettings `json:"decisions"`
}

// OrganizationSetting is one of how states are kept.
type OrganizationSetting struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // that holds, as auth.cfg spells it
	Default string `json:"default"`
	Said    bool   `json:"said"` // it stands in the file, perhaps with the value of the default
}

// StatesSection is what is said otherwise of some states.
type StatesSection struct {
	States   []string       `json:"states"` // patterns
	Settings []SettingValue `json:"settings"`
}

// SettingValue is a setting as it stands in the file.
type SettingValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// OrganizationAlias is what another server calls the organization, or a project of one.
type OrganizationAlias struct {
	ID     string `json:"id"`
	Folder string `json:"folder,omitempty"` // where its states are; absent for no folder in particular
}

// NoticeSettings say how notices are posted; the address is a secret.
type NoticeSettings struct {
	Signed bool     `json:"signed"`
	Header bool     `json:"header"` // one of the receiver's own goes with each
	Events []string `json:"events"` // empty for the usual ones
}

// DecisionSettings say how a service outside is asked; the address is a secret.
type DecisionSettings struct {
	Signed bool `json:"signed"`
	// FailOpen has plans applied where nobody answers.
	FailOpen bool `json:"fail_open"`
}

// OrganizationChange gives some settings other values, all of them or none.
type OrganizationChange struct {
	Version  string         `json:"version"`  // of the settings that were read
	Settings []SettingValue `json:"settings"` // an empty value for the default
}
