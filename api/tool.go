package api

// Tools is what the server's own executor can plan with.
type Tools struct {
	Tools []ToolVersions `json:"tools"`
}

// ToolVersions are those of one tool that are installed. Agents have their own, which the server does not know.
type ToolVersions struct {
	Tool     string   `json:"tool" enum:"ToolName"`
	Versions []string `json:"versions"` // the newest first
	// Downloads says that other versions are downloaded when they are wanted.
	Downloads bool `json:"downloads"`
}
