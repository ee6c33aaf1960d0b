# METADATA
# title: "Credentials stand in the settings of an application"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/linux_web_app
# custom:
#   id: HF-AZU-017
#   severity: high
#   kind: credentials
#   types:
#   - azurerm_linux_web_app
#   - azurerm_windows_web_app
#   - azurerm_linux_function_app
#   - azurerm_windows_function_app
#   - azurerm_app_service
#   - azurerm_function_app
#   recommendation: "Refer to Key Vault in app_settings."
package holdfast.azure.hf_azu_017

import data.holdfast.lib

types := {"azurerm_linux_web_app", "azurerm_windows_web_app", "azurerm_linux_function_app", "azurerm_windows_function_app", "azurerm_app_service", "azurerm_function_app"}

deny contains lib.finding(c, "its settings have what is called like a credential") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name, value in after.app_settings
	lib.secret_name(name)
	lib.plain_secret(value)
	not startswith(value, "@Microsoft.KeyVault")
}
