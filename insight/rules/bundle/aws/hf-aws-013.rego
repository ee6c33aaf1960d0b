# METADATA
# title: "Everybody can assume a role"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/iam_role
# custom:
#   id: HF-AWS-013
#   severity: critical
#   kind: access
#   types:
#   - aws_iam_role
#   recommendation: "Name the principals, and a condition such as an external ID."
package holdfast.aws.hf_aws_013

import data.holdfast.lib

deny contains lib.finding(c, "its trust policy lets everybody assume it") if {
	some c in input.resource_changes
	c.type == "aws_iam_role"
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.assume_role_policy)
	lib.anybody(statement)
}
