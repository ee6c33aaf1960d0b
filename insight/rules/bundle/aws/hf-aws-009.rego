# METADATA
# title: "A bucket is public by its ACL"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/s3_bucket_acl
# custom:
#   id: HF-AWS-009
#   severity: critical
#   kind: access
#   types:
#   - aws_s3_bucket_acl
#   - aws_s3_bucket
#   recommendation: "Set the ACL to private and turn the public access block on."
package holdfast.aws.hf_aws_009

import data.holdfast.lib

types := {"aws_s3_bucket_acl", "aws_s3_bucket"}

deny contains lib.finding(c, "its ACL lets everybody in") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.acl in {"public-read", "public-read-write", "authenticated-read"}
}
