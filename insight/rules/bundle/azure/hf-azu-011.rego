# METADATA
# title: "A shared password lets people in"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/container_registry
# custom:
#   id: HF-AZU-011
#   severity: medium
#   kind: access
#   types:
#   - azurerm_container_registry
#   - azurerm_linux_virtual_machine
#   - azurerm_cosmosdb_account
#   recommendation: "Use identities: turn the admin account and passwords off."
package holdfast.azure.hf_azu_011

import data.holdfast.lib

types := {"azurerm_container_registry", "azurerm_linux_virtual_machine", "azurerm_cosmosdb_account"}

deny contains lib.finding(c, "it can be entered with a shared password") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	lib.on(c, "admin_enabled")
}

deny contains lib.finding(c, "it can be entered with a shared password") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.disable_password_authentication == false
}
