# METADATA
# title: "Everybody can read a dataset"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/bigquery_dataset
# custom:
#   id: HF-GCP-013
#   severity: critical
#   kind: access
#   types:
#   - google_bigquery_dataset
#   - google_bigquery_dataset_access
#   recommendation: "Name members or groups."
package holdfast.google.hf_gcp_013

import data.holdfast.lib

types := {"google_bigquery_dataset", "google_bigquery_dataset_access"}

deny contains lib.finding(c, "everybody has access to it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some access in lib.list(after, "access")
	access.special_group == "allAuthenticatedUsers"
}

deny contains lib.finding(c, "everybody has access to it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.special_group == "allAuthenticatedUsers"
}

deny contains lib.finding(c, "everybody has access to it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some access in lib.list(after, "access")
	access.iam_member == "allUsers"
}
