# METADATA
# title: "A key of a service account is kept in the state"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/service_account_key
# custom:
#   id: HF-GCP-017
#   severity: medium
#   kind: credentials
#   types:
#   - google_service_account_key
#   recommendation: "Use workload identity instead of keys."
package holdfast.google.hf_gcp_017

import data.holdfast.lib

deny contains lib.finding(c, "its private key is kept in the state") if {
	some c in input.resource_changes
	c.type == "google_service_account_key"
	is_object(c.change.after)
	lib.absent(c, "public_key_data")
}
