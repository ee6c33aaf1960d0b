# METADATA
# title: "Credentials stand in the environment of a service"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/cloud_run_service
# custom:
#   id: HF-GCP-018
#   severity: high
#   kind: credentials
#   types:
#   - google_cloud_run_service
#   - google_cloud_run_v2_service
#   - google_cloudfunctions_function
#   recommendation: "Read it from Secret Manager."
package holdfast.google.hf_gcp_018

import data.holdfast.lib

types := {"google_cloud_run_service", "google_cloud_run_v2_service", "google_cloudfunctions_function"}

deny contains lib.finding(c, "its environment has what is called like a credential") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name, value in after.environment_variables
	lib.secret_name(name)
	lib.plain_secret(value)
}

deny contains lib.finding(c, "its environment has what is called like a credential") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some container in lib.google_containers(after)
	some env in lib.list(container, "env")
	lib.secret_name(env.name)
	lib.plain_secret(env.value)
}
