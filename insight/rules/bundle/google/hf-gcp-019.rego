# METADATA
# title: "A bucket keeps no access log"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/storage_bucket
# custom:
#   id: HF-GCP-019
#   severity: low
#   kind: logging
#   types:
#   - google_storage_bucket
#   recommendation: "Give it a logging block, or turn data access audit logs on."
package holdfast.google.hf_gcp_019

import data.holdfast.lib

deny contains lib.finding(c, "its access log is off") if {
	some c in input.resource_changes
	c.type == "google_storage_bucket"
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "logging")
	count(lib.list(after, "logging")) == 0
}
