# METADATA
# title: "Everybody can use a key"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/kms_key
# custom:
#   id: HF-AWS-015
#   severity: high
#   kind: access
#   types:
#   - aws_kms_key
#   - aws_kms_key_policy
#   recommendation: "Name the accounts and roles that need the key."
package holdfast.aws.hf_aws_015

import data.holdfast.lib

types := {"aws_kms_key", "aws_kms_key_policy"}

deny contains lib.finding(c, "its policy allows everybody") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.policy)
	lib.anybody(statement)
}
