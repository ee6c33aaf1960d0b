# METADATA
# title: "Audit logs are kept for too short a time"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/mssql_server_extended_auditing_policy
# custom:
#   id: HF-AZU-019
#   severity: low
#   kind: logging
#   types:
#   - azurerm_mssql_server_extended_auditing_policy
#   - azurerm_mssql_database_extended_auditing_policy
#   recommendation: "Set retention_in_days to 90 or more, or 0 for ever."
package holdfast.azure.hf_azu_019

import data.holdfast.lib

types := {"azurerm_mssql_server_extended_auditing_policy", "azurerm_mssql_database_extended_auditing_policy"}

deny contains lib.finding(c, "its audit log is kept for less than 90 days") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	days := after.retention_in_days
	days > 0
	days < 90
}
