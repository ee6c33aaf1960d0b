# METADATA
# title: "A key is never rotated"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/kms_crypto_key
# custom:
#   id: HF-GCP-015
#   severity: medium
#   kind: encryption
#   types:
#   - google_kms_crypto_key
#   recommendation: "Set rotation_period to 90 days or less."
package holdfast.google.hf_gcp_015

import data.holdfast.lib

deny contains lib.finding(c, "it is not rotated") if {
	some c in input.resource_changes
	c.type == "google_kms_crypto_key"
	after := c.change.after
	is_object(after)
	lib.absent(c, "rotation_period")
	object.get(after, "purpose", "ENCRYPT_DECRYPT") in {"ENCRYPT_DECRYPT", null}
}
