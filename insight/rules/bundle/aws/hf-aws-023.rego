# METADATA
# title: "The disk of an instance is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/instance
# custom:
#   id: HF-AWS-023
#   severity: medium
#   kind: encryption
#   types:
#   - aws_instance
#   - aws_launch_configuration
#   recommendation: "Set encrypted to true in its block devices, or by default for the account."
package holdfast.aws.hf_aws_023

import data.holdfast.lib

types := {"aws_instance", "aws_launch_configuration"}

deny contains lib.finding(c, "one of its disks is not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name in {"root_block_device", "ebs_block_device"}
	some disk in lib.list(after, name)
	object.get(disk, "encrypted", null) == false
}
