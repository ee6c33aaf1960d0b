# METADATA
# title: "Everybody can read a container"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/storage_container
# custom:
#   id: HF-AZU-008
#   severity: critical
#   kind: access
#   types:
#   - azurerm_storage_container
#   - azurerm_storage_account
#   recommendation: "Set the access type to private, and forbid nested items to be public."
package holdfast.azure.hf_azu_008

import data.holdfast.lib

types := {"azurerm_storage_container", "azurerm_storage_account"}

deny contains lib.finding(c, "everybody can read it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.container_access_type in {"blob", "container"}
}

deny contains lib.finding(c, "everybody can read it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.allow_blob_public_access == true
}
