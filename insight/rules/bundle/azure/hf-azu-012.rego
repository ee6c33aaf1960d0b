# METADATA
# title: "A store takes requests that are not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/storage_account
# custom:
#   id: HF-AZU-012
#   severity: high
#   kind: encryption
#   types:
#   - azurerm_storage_account
#   recommendation: "Set https_traffic_only_enabled to true."
package holdfast.azure.hf_azu_012

import data.holdfast.lib

deny contains lib.finding(c, "it takes requests that are not encrypted") if {
	some c in input.resource_changes
	c.type == "azurerm_storage_account"
	after := c.change.after
	is_object(after)
	some name in {"https_traffic_only_enabled", "enable_https_traffic_only"}
	object.get(after, name, null) == false
}
