# METADATA
# title: "A network keeps no flow logs"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/compute_subnetwork
# custom:
#   id: HF-GCP-020
#   severity: medium
#   kind: logging
#   types:
#   - google_compute_subnetwork
#   recommendation: "Give it a log_config."
package holdfast.google.hf_gcp_020

import data.holdfast.lib

deny contains lib.finding(c, "its flow logs are off") if {
	some c in input.resource_changes
	c.type == "google_compute_subnetwork"
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "log_config")
	count(lib.list(after, "log_config")) == 0
	not object.get(after, "purpose", null) in {"REGIONAL_MANAGED_PROXY", "GLOBAL_MANAGED_PROXY", "INTERNAL_HTTPS_LOAD_BALANCER"}
}
