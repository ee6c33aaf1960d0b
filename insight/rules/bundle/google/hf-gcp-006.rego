# METADATA
# title: "The Kubernetes API is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_cluster
# custom:
#   id: HF-GCP-006
#   severity: high
#   kind: networking
#   types:
#   - google_container_cluster
#   recommendation: "Name ranges in master_authorized_networks_config, or make the endpoint private."
package holdfast.google.hf_gcp_006

import data.holdfast.lib

deny contains lib.finding(c, "its API can be reached from every address") if {
	some c in input.resource_changes
	c.type == "google_container_cluster"
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "master_authorized_networks_config")
	count(lib.list(after, "master_authorized_networks_config")) == 0
	not after.private_cluster_config[0].enable_private_endpoint
}

deny contains lib.finding(c, "its API can be reached from every address") if {
	some c in input.resource_changes
	c.type == "google_container_cluster"
	after := c.change.after
	is_object(after)
	some config in lib.list(after, "master_authorized_networks_config")
	some block in lib.list(config, "cidr_blocks")
	lib.world(block.cidr_block)
}
