# METADATA
# title: "Keys can be destroyed at once"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/key_vault
# custom:
#   id: HF-AZU-016
#   severity: medium
#   kind: encryption
#   types:
#   - azurerm_key_vault
#   recommendation: "Set purge_protection_enabled to true."
package holdfast.azure.hf_azu_016

import data.holdfast.lib

deny contains lib.finding(c, "deleted keys can be purged, and what they encrypt is lost") if {
	some c in input.resource_changes
	c.type == "azurerm_key_vault"
	is_object(c.change.after)
	lib.off(c, "purge_protection_enabled")
}
