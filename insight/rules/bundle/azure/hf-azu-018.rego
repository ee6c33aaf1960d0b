# METADATA
# title: "A cluster sends no logs"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/kubernetes_cluster
# custom:
#   id: HF-AZU-018
#   severity: medium
#   kind: logging
#   types:
#   - azurerm_kubernetes_cluster
#   recommendation: "Give it an oms_agent."
package holdfast.azure.hf_azu_018

import data.holdfast.lib

deny contains lib.finding(c, "it has no agent that sends logs") if {
	some c in input.resource_changes
	c.type == "azurerm_kubernetes_cluster"
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "oms_agent")
	count(lib.list(after, "oms_agent")) == 0
}
