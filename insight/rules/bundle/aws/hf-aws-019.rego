# METADATA
# title: "A volume is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/ebs_volume
# custom:
#   id: HF-AWS-019
#   severity: high
#   kind: encryption
#   types:
#   - aws_ebs_volume
#   - aws_ebs_snapshot_copy
#   recommendation: "Set encrypted to true."
package holdfast.aws.hf_aws_019

import data.holdfast.lib

types := {"aws_ebs_volume", "aws_ebs_snapshot_copy"}

deny contains lib.finding(c, "it is not encrypted") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	lib.off(c, "encrypted")
}
