# METADATA
# title: "Every port is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/network_security_rule
# custom:
#   id: HF-AZU-003
#   severity: critical
#   kind: networking
#   types:
#   - azurerm_network_security_rule
#   - azurerm_network_security_group
#   recommendation: "Name the ports and addresses that are needed."
package holdfast.azure.hf_azu_003

import data.holdfast.lib

types := {"azurerm_network_security_rule", "azurerm_network_security_group"}

deny contains lib.finding(c, "it allows the whole world on every port") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	some rule in lib.azure_rules(c)
	lib.azure_world(rule)
	lib.azure_all(rule)
}
