# METADATA
# title: "A bucket is public by its policy"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/s3_bucket_policy
# custom:
#   id: HF-AWS-011
#   severity: critical
#   kind: access
#   types:
#   - aws_s3_bucket_policy
#   recommendation: "Name the accounts and roles that need access."
package holdfast.aws.hf_aws_011

import data.holdfast.lib

deny contains lib.finding(c, "its policy allows everybody") if {
	some c in input.resource_changes
	c.type == "aws_s3_bucket_policy"
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.policy)
	lib.anybody(statement)
}
