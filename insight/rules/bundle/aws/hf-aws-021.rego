# METADATA
# title: "A file system or warehouse is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/efs_file_system
# custom:
#   id: HF-AWS-021
#   severity: high
#   kind: encryption
#   types:
#   - aws_efs_file_system
#   - aws_redshift_cluster
#   - aws_fsx_openzfs_file_system
#   recommendation: "Set encrypted to true."
package holdfast.aws.hf_aws_021

import data.holdfast.lib

types := {"aws_efs_file_system", "aws_redshift_cluster", "aws_fsx_openzfs_file_system"}

deny contains lib.finding(c, "it is not encrypted") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	c.type != "aws_fsx_openzfs_file_system"
	lib.off(c, "encrypted")
}
