# METADATA
# title: "An instance gets a public address"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/compute_instance
# custom:
#   id: HF-GCP-005
#   severity: medium
#   kind: networking
#   types:
#   - google_compute_instance
#   - google_compute_instance_template
#   recommendation: "Leave access_config away and use Cloud NAT."
package holdfast.google.hf_gcp_005

import data.holdfast.lib

types := {"google_compute_instance", "google_compute_instance_template"}

deny contains lib.finding(c, "it gets a public address") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some nic in lib.list(after, "network_interface")
	count(lib.list(nic, "access_config")) > 0
}
