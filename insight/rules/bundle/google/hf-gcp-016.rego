# METADATA
# title: "Old versions of TLS are accepted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/compute_ssl_policy
# custom:
#   id: HF-GCP-016
#   severity: medium
#   kind: encryption
#   types:
#   - google_compute_ssl_policy
#   recommendation: "Set min_tls_version to TLS_1_2."
package holdfast.google.hf_gcp_016

import data.holdfast.lib

deny contains lib.finding(c, "it accepts TLS older than 1.2") if {
	some c in input.resource_changes
	c.type == "google_compute_ssl_policy"
	after := c.change.after
	is_object(after)
	object.get(after, "min_tls_version", null) in {null, "TLS_1_0", "TLS_1_1"}
	not lib.unknown(c, "min_tls_version")
}
