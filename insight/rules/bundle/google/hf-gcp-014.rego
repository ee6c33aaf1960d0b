# METADATA
# title: "A database takes connections that are not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/sql_database_instance
# custom:
#   id: HF-GCP-014
#   severity: high
#   kind: encryption
#   types:
#   - google_sql_database_instance
#   recommendation: "Set ssl_mode to ENCRYPTED_ONLY."
package holdfast.google.hf_gcp_014

import data.holdfast.lib

deny contains lib.finding(c, "it takes connections that are not encrypted") if {
	some c in input.resource_changes
	c.type == "google_sql_database_instance"
	after := c.change.after
	is_object(after)
	some settings in lib.list(after, "settings")
	some ip in lib.list(settings, "ip_configuration")
	not ip.require_ssl == true
	object.get(ip, "ssl_mode", null) in {null, "", "ALLOW_UNENCRYPTED_AND_ENCRYPTED"}
}
