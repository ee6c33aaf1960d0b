# METADATA
# title: "A basic role is handed out"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/project_iam_member
# custom:
#   id: HF-GCP-008
#   severity: high
#   kind: access
#   types:
#   - google_project_iam_member
#   - google_project_iam_binding
#   - google_folder_iam_member
#   - google_organization_iam_member
#   recommendation: "Use a predefined role with what is needed."
package holdfast.google.hf_gcp_008

import data.holdfast.lib

types := {"google_project_iam_member", "google_project_iam_binding", "google_folder_iam_member", "google_organization_iam_member"}

deny contains lib.finding(c, "it hands out a basic role") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.role in {"roles/owner", "roles/editor"}
}
