# METADATA
# title: "Credentials stand in the environment of a build"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/codebuild_project
# custom:
#   id: HF-AWS-034
#   severity: high
#   kind: credentials
#   types:
#   - aws_codebuild_project
#   recommendation: "Use the type SECRETS_MANAGER or PARAMETER_STORE."
package holdfast.aws.hf_aws_034

import data.holdfast.lib

deny contains lib.finding(c, "its environment has what is called like a credential") if {
	some c in input.resource_changes
	c.type == "aws_codebuild_project"
	after := c.change.after
	is_object(after)
	some env in lib.list(after, "environment")
	some variable in lib.list(env, "environment_variable")
	object.get(variable, "type", "PLAINTEXT") in {"PLAINTEXT", "", null}
	lib.secret_name(variable.name)
	lib.plain_secret(variable.value)
}
