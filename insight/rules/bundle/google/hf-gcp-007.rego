# METADATA
# title: "Everybody can read a bucket"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/storage_bucket_iam_member
# custom:
#   id: HF-GCP-007
#   severity: critical
#   kind: access
#   types:
#   - google_storage_bucket_iam_member
#   - google_storage_bucket_iam_binding
#   - google_storage_bucket_access_control
#   recommendation: "Name members or groups."
package holdfast.google.hf_gcp_007

import data.holdfast.lib

types := {"google_storage_bucket_iam_member", "google_storage_bucket_iam_binding", "google_storage_bucket_access_control"}

deny contains lib.finding(c, "everybody has a role on it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some member in lib.google_members(after)
	member in {"allUsers", "allAuthenticatedUsers"}
}
