# METADATA
# title: "A cluster has the old authorization"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_cluster
# custom:
#   id: HF-GCP-011
#   severity: high
#   kind: access
#   types:
#   - google_container_cluster
#   recommendation: "Set enable_legacy_abac to false."
package holdfast.google.hf_gcp_011

import data.holdfast.lib

deny contains lib.finding(c, "legacy authorization is on: every service account may do everything") if {
	some c in input.resource_changes
	c.type == "google_container_cluster"
	is_object(c.change.after)
	lib.on(c, "enable_legacy_abac")
}
