package api

// Words are the texts of which a member is one, by the name that the tag `enum` of its field has. A
// later server may know more of them.
func Words() map[string][]string {
	return map[string][]string{
		"ArtefactKind": {"plan", "plan_json", "lock_file", "plan_files", "json_log", "errored_state", "outputs",
			"results"},
		"FailureClass": {"infrastructure", "lock_held", "config", "provider", "sandbox"},
		"Finding":      {"emptied", "shrunk"},
		"PhaseName":    {"prepare", "init", "plan", "show", "check", "apply", "output"},
		"ResourceMode": {"managed", "data"},
		"RunKind":      {"plan", "apply", "destroy", "refresh", "drift"},
		"RunProgress": {
			"pending", "preparing", "planning", "checking", "awaiting_approval", "confirmed", "applying", "retrying", "orphaned",
			"succeeded", "failed", "discarded", "stale", "cancelled",
		},
		"RepositoryProvider": {"github", "gitlab", "gitea", "forgejo", "bitbucket", "azure", "plain"},
		"RunStage":           {"plan", "apply"},
		"SandboxLevel":       {"none", "weak", "landlock", "namespaces"},
		"Source":             {"state", "upload"},
		"ToolName":           {"opentofu", "terraform", "terragrunt", "engine"},
	}
}
