# METADATA
# title: "A bucket has ACLs of objects"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/storage_bucket
# custom:
#   id: HF-GCP-009
#   severity: medium
#   kind: access
#   types:
#   - google_storage_bucket
#   recommendation: "Set uniform_bucket_level_access to true."
package holdfast.google.hf_gcp_009

import data.holdfast.lib

deny contains lib.finding(c, "access is not uniform: objects have ACLs of their own") if {
	some c in input.resource_changes
	c.type == "google_storage_bucket"
	is_object(c.change.after)
	lib.off(c, "uniform_bucket_level_access")
}
