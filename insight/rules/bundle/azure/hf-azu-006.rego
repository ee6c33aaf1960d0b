# METADATA
# title: "The Kubernetes API is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/kubernetes_cluster
# custom:
#   id: HF-AZU-006
#   severity: high
#   kind: networking
#   types:
#   - azurerm_kubernetes_cluster
#   recommendation: "Name ranges in api_server_access_profile, or make the cluster private."
package holdfast.azure.hf_azu_006

import data.holdfast.lib

deny contains lib.finding(c, "its API can be reached from every address") if {
	some c in input.resource_changes
	c.type == "azurerm_kubernetes_cluster"
	after := c.change.after
	is_object(after)
	not after.private_cluster_enabled == true
	not lib.unknown(c, "api_server_access_profile")
	not lib.azure_ranges(after)
}
