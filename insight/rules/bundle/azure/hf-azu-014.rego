# METADATA
# title: "An application takes requests that are not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/linux_web_app
# custom:
#   id: HF-AZU-014
#   severity: medium
#   kind: encryption
#   types:
#   - azurerm_linux_web_app
#   - azurerm_windows_web_app
#   - azurerm_app_service
#   - azurerm_linux_function_app
#   - azurerm_windows_function_app
#   - azurerm_function_app
#   recommendation: "Set https_only to true."
package holdfast.azure.hf_azu_014

import data.holdfast.lib

types := {"azurerm_linux_web_app", "azurerm_windows_web_app", "azurerm_app_service", "azurerm_linux_function_app", "azurerm_windows_function_app", "azurerm_function_app"}

deny contains lib.finding(c, "it takes requests that are not encrypted") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	lib.off(c, "https_only")
}
