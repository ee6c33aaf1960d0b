# METADATA
# title: "A database can be reached from the internet"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/mssql_server
# custom:
#   id: HF-AZU-007
#   severity: high
#   kind: networking
#   types:
#   - azurerm_mssql_server
#   - azurerm_postgresql_server
#   - azurerm_mysql_server
#   - azurerm_mariadb_server
#   - azurerm_cosmosdb_account
#   - azurerm_redis_cache
#   recommendation: "Set public_network_access_enabled to false and use a private endpoint."
package holdfast.azure.hf_azu_007

import data.holdfast.lib

types := {"azurerm_mssql_server", "azurerm_postgresql_server", "azurerm_mysql_server", "azurerm_mariadb_server", "azurerm_cosmosdb_account", "azurerm_redis_cache"}

deny contains lib.finding(c, "its public network access is on") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.public_network_access_enabled == true
}
