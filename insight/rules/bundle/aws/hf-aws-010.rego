# METADATA
# title: "The block of public access has gaps"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/s3_bucket_public_access_block
# custom:
#   id: HF-AWS-010
#   severity: high
#   kind: access
#   types:
#   - aws_s3_bucket_public_access_block
#   - aws_s3_account_public_access_block
#   recommendation: "Set all four settings to true."
package holdfast.aws.hf_aws_010

import data.holdfast.lib

types := {"aws_s3_bucket_public_access_block", "aws_s3_account_public_access_block"}

deny contains lib.finding(c, "public access is not blocked in every way") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	some name in {"block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"}
	lib.off(c, name)
}
