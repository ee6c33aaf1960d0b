# METADATA
# title: "Administrator rights are handed out"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/iam_role_policy_attachment
# custom:
#   id: HF-AWS-014
#   severity: high
#   kind: access
#   types:
#   - aws_iam_role_policy_attachment
#   - aws_iam_user_policy_attachment
#   - aws_iam_group_policy_attachment
#   - aws_iam_policy_attachment
#   recommendation: "Attach a policy with the actions that are needed."
package holdfast.aws.hf_aws_014

import data.holdfast.lib

types := {"aws_iam_role_policy_attachment", "aws_iam_user_policy_attachment", "aws_iam_group_policy_attachment", "aws_iam_policy_attachment"}

deny contains lib.finding(c, "it attaches a policy of administrators") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name in {"AdministratorAccess", "IAMFullAccess", "PowerUserAccess"}
	endswith(after.policy_arn, concat("", ["/", name]))
}
