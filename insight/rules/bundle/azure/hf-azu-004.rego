# METADATA
# title: "A database is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/mssql_firewall_rule
# custom:
#   id: HF-AZU-004
#   severity: high
#   kind: networking
#   types:
#   - azurerm_mssql_firewall_rule
#   - azurerm_sql_firewall_rule
#   - azurerm_postgresql_firewall_rule
#   - azurerm_postgresql_flexible_server_firewall_rule
#   - azurerm_mysql_firewall_rule
#   - azurerm_mysql_flexible_server_firewall_rule
#   recommendation: "Name address ranges, or use a private endpoint."
package holdfast.azure.hf_azu_004

import data.holdfast.lib

types := {"azurerm_mssql_firewall_rule", "azurerm_sql_firewall_rule", "azurerm_postgresql_firewall_rule", "azurerm_postgresql_flexible_server_firewall_rule", "azurerm_mysql_firewall_rule", "azurerm_mysql_flexible_server_firewall_rule"}

deny contains lib.finding(c, "it lets every address in") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.start_ip_address == "0.0.0.0"
	after.end_ip_address != "0.0.0.0"
}
