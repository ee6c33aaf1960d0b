# METADATA
# title: "SSH is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/network_security_rule
# custom:
#   id: HF-AZU-001
#   severity: high
#   kind: networking
#   types:
#   - azurerm_network_security_rule
#   - azurerm_network_security_group
#   recommendation: "Restrict SSH access to known address ranges, or use Bastion."
package holdfast.azure.hf_azu_001

import data.holdfast.lib

types := {"azurerm_network_security_rule", "azurerm_network_security_group"}

deny contains lib.finding(c, "it allows the whole world on port 22") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	some rule in lib.azure_rules(c)
	lib.azure_world(rule)
	lib.azure_port(rule, 22)
	not lib.azure_all(rule)
}
