# METADATA
# title: "A cluster has no authorization"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/kubernetes_cluster
# custom:
#   id: HF-AZU-010
#   severity: high
#   kind: access
#   types:
#   - azurerm_kubernetes_cluster
#   recommendation: "Set role_based_access_control_enabled to true."
package holdfast.azure.hf_azu_010

import data.holdfast.lib

deny contains lib.finding(c, "role-based access control is off") if {
	some c in input.resource_changes
	c.type == "azurerm_kubernetes_cluster"
	after := c.change.after
	is_object(after)
	after.role_based_access_control_enabled == false
}
