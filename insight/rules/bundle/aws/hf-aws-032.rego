# METADATA
# title: "Credentials stand in the environment of a container"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/ecs_task_definition
# custom:
#   id: HF-AWS-032
#   severity: high
#   kind: credentials
#   types:
#   - aws_ecs_task_definition
#   recommendation: "Use secrets with valueFrom."
package holdfast.aws.hf_aws_032

import data.holdfast.lib

deny contains lib.finding(c, "its environment has what is called like a credential") if {
	some c in input.resource_changes
	c.type == "aws_ecs_task_definition"
	after := c.change.after
	is_object(after)
	some container in lib.decoded(after.container_definitions)
	some env in container.environment
	lib.secret_name(env.name)
	lib.plain_secret(env.value)
}
