# METADATA
# title: "A cluster sends no logs"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_cluster
# custom:
#   id: HF-GCP-021
#   severity: medium
#   kind: logging
#   types:
#   - google_container_cluster
#   recommendation: "Set logging_service to logging.googleapis.com/kubernetes."
package holdfast.google.hf_gcp_021

import data.holdfast.lib

deny contains lib.finding(c, "its logging is off") if {
	some c in input.resource_changes
	c.type == "google_container_cluster"
	after := c.change.after
	is_object(after)
	after.logging_service == "none"
}
