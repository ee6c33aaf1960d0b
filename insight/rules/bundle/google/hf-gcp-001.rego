# METADATA
# title: "SSH is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/compute_firewall
# custom:
#   id: HF-GCP-001
#   severity: high
#   kind: networking
#   types:
#   - google_compute_firewall
#   recommendation: "Restrict SSH access to known address ranges, or use Identity-Aware Proxy."
package holdfast.google.hf_gcp_001

import data.holdfast.lib

deny contains lib.finding(c, "it allows the whole world on port 22") if {
	some c in input.resource_changes
	c.type == "google_compute_firewall"
	after := c.change.after
	is_object(after)
	lib.google_ingress(c)
	some source in after.source_ranges
	lib.world(source)
	some allow in lib.list(after, "allow")
	lib.google_port(allow, 22)
}
