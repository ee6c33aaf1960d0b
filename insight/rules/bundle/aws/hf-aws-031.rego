# METADATA
# title: "Credentials stand in the environment of a function"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/lambda_function
# custom:
#   id: HF-AWS-031
#   severity: high
#   kind: credentials
#   types:
#   - aws_lambda_function
#   recommendation: "Read it from Secrets Manager while the function runs."
package holdfast.aws.hf_aws_031

import data.holdfast.lib

deny contains lib.finding(c, "its environment has what is called like a credential") if {
	some c in input.resource_changes
	c.type == "aws_lambda_function"
	after := c.change.after
	is_object(after)
	some env in lib.list(after, "environment")
	some name, value in env.variables
	lib.secret_name(name)
	lib.plain_secret(value)
}
