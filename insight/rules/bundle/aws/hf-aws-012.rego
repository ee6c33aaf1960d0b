# METADATA
# title: "A policy allows everything"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/iam_policy
# custom:
#   id: HF-AWS-012
#   severity: high
#   kind: access
#   types:
#   - aws_iam_policy
#   - aws_iam_role_policy
#   - aws_iam_user_policy
#   - aws_iam_group_policy
#   recommendation: "Name the actions and resources that are needed."
package holdfast.aws.hf_aws_012

import data.holdfast.lib

types := {"aws_iam_policy", "aws_iam_role_policy", "aws_iam_user_policy", "aws_iam_group_policy"}

deny contains lib.finding(c, "it allows every action on every resource") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.policy)
	lib.allows(statement)
	lib.has(statement.Action, "*")
	lib.has(statement.Resource, "*")
}
