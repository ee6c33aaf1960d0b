# METADATA
# title: "A store takes requests from every network"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/storage_account
# custom:
#   id: HF-AZU-005
#   severity: medium
#   kind: networking
#   types:
#   - azurerm_storage_account
#   - azurerm_storage_account_network_rules
#   - azurerm_key_vault
#   - azurerm_cognitive_account
#   recommendation: "Set the default action to Deny and name networks."
package holdfast.azure.hf_azu_005

import data.holdfast.lib

types := {"azurerm_storage_account", "azurerm_storage_account_network_rules", "azurerm_key_vault", "azurerm_cognitive_account"}

deny contains lib.finding(c, "its firewall allows by default") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some rules in lib.list(after, "network_rules")
	rules.default_action == "Allow"
}

deny contains lib.finding(c, "its firewall allows by default") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some rules in lib.list(after, "network_acls")
	rules.default_action == "Allow"
}

deny contains lib.finding(c, "its firewall allows by default") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.default_action == "Allow"
}
