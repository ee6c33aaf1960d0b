# METADATA
# title: "Old versions of TLS are accepted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/storage_account
# custom:
#   id: HF-AZU-013
#   severity: medium
#   kind: encryption
#   types:
#   - azurerm_storage_account
#   - azurerm_mssql_server
#   - azurerm_redis_cache
#   - azurerm_postgresql_server
#   - azurerm_mysql_server
#   recommendation: "Set the minimum TLS version to 1.2."
package holdfast.azure.hf_azu_013

import data.holdfast.lib

types := {"azurerm_storage_account", "azurerm_mssql_server", "azurerm_redis_cache", "azurerm_postgresql_server", "azurerm_mysql_server"}

deny contains lib.finding(c, "it accepts TLS older than 1.2") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name in {"min_tls_version", "minimum_tls_version", "ssl_minimal_tls_version_enforced"}
	object.get(after, name, null) in {"TLS1_0", "TLS1_1", "1.0", "1.1", "Disabled", "TLSEnforcementDisabled"}
}
