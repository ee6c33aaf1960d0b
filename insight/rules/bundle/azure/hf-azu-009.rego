# METADATA
# title: "Ownership is handed out"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/role_assignment
# custom:
#   id: HF-AZU-009
#   severity: high
#   kind: access
#   types:
#   - azurerm_role_assignment
#   recommendation: "Use a role with what is needed, on a resource group."
package holdfast.azure.hf_azu_009

import data.holdfast.lib

deny contains lib.finding(c, "it hands out a role that may do everything") if {
	some c in input.resource_changes
	c.type == "azurerm_role_assignment"
	after := c.change.after
	is_object(after)
	after.role_definition_name in {"Owner", "User Access Administrator", "Role Based Access Control Administrator"}
}
