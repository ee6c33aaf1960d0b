# METADATA
# title: "A database is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/sql_database_instance
# custom:
#   id: HF-GCP-004
#   severity: high
#   kind: networking
#   types:
#   - google_sql_database_instance
#   recommendation: "Name address ranges in authorized_networks, or use a private address."
package holdfast.google.hf_gcp_004

import data.holdfast.lib

deny contains lib.finding(c, "it takes connections from the whole world") if {
	some c in input.resource_changes
	c.type == "google_sql_database_instance"
	after := c.change.after
	is_object(after)
	some settings in lib.list(after, "settings")
	some ip in lib.list(settings, "ip_configuration")
	some network in lib.list(ip, "authorized_networks")
	lib.world(network.value)
}
