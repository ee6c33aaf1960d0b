# METADATA
# title: "Everybody can call a function"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/lambda_permission
# custom:
#   id: HF-AWS-017
#   severity: high
#   kind: access
#   types:
#   - aws_lambda_permission
#   - aws_lambda_function_url
#   recommendation: "Name the caller and its account, or ask for AWS_IAM."
package holdfast.aws.hf_aws_017

import data.holdfast.lib

types := {"aws_lambda_permission", "aws_lambda_function_url"}

deny contains lib.finding(c, "everybody can call it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.principal == "*"
	lib.absent(c, "principal_org_id")
}

deny contains lib.finding(c, "everybody can call it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.authorization_type == "NONE"
}
