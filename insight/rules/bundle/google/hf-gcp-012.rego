# METADATA
# title: "An instance may do everything in its project"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/compute_instance
# custom:
#   id: HF-GCP-012
#   severity: high
#   kind: access
#   types:
#   - google_compute_instance
#   - google_compute_instance_template
#   - google_container_node_pool
#   recommendation: "Use a service account of its own with the roles that are needed."
package holdfast.google.hf_gcp_012

import data.holdfast.lib

types := {"google_compute_instance", "google_compute_instance_template", "google_container_node_pool"}

deny contains lib.finding(c, "it has the scope of everything") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some account in lib.list(after, "service_account")
	not contains(object.get(account, "email", ""), "@")
	"https://www.googleapis.com/auth/cloud-platform" in account.scopes
}
