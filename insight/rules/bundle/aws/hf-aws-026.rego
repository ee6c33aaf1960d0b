# METADATA
# title: "A key is never rotated"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/kms_key
# custom:
#   id: HF-AWS-026
#   severity: medium
#   kind: encryption
#   types:
#   - aws_kms_key
#   recommendation: "Set enable_key_rotation to true."
package holdfast.aws.hf_aws_026

import data.holdfast.lib

deny contains lib.finding(c, "it is not rotated") if {
	some c in input.resource_changes
	c.type == "aws_kms_key"
	after := c.change.after
	is_object(after)
	lib.off(c, "enable_key_rotation")
	object.get(after, "customer_master_key_spec", "SYMMETRIC_DEFAULT") in {"SYMMETRIC_DEFAULT", null}
}
