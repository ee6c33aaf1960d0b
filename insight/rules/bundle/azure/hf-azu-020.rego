# METADATA
# title: "A network keeps no flow logs"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/network_watcher_flow_log
# custom:
#   id: HF-AZU-020
#   severity: low
#   kind: logging
#   types:
#   - azurerm_network_watcher_flow_log
#   recommendation: "Set enabled to true."
package holdfast.azure.hf_azu_020

import data.holdfast.lib

deny contains lib.finding(c, "its flow log is off") if {
	some c in input.resource_changes
	c.type == "azurerm_network_watcher_flow_log"
	after := c.change.after
	is_object(after)
	after.enabled == false
}
