# METADATA
# title: "A database takes connections that are not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/postgresql_server
# custom:
#   id: HF-AZU-015
#   severity: high
#   kind: encryption
#   types:
#   - azurerm_postgresql_server
#   - azurerm_mysql_server
#   - azurerm_mariadb_server
#   - azurerm_redis_cache
#   recommendation: "Enforce TLS."
package holdfast.azure.hf_azu_015

import data.holdfast.lib

types := {"azurerm_postgresql_server", "azurerm_mysql_server", "azurerm_mariadb_server", "azurerm_redis_cache"}

deny contains lib.finding(c, "it takes connections that are not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.ssl_enforcement_enabled == false
}

deny contains lib.finding(c, "it takes connections that are not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name in {"enable_non_ssl_port", "non_ssl_port_enabled"}
	object.get(after, name, null) == true
}
