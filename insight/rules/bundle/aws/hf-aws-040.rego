# METADATA
# title: "An API keeps no access log"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/api_gateway_stage
# custom:
#   id: HF-AWS-040
#   severity: medium
#   kind: logging
#   types:
#   - aws_api_gateway_stage
#   - aws_apigatewayv2_stage
#   recommendation: "Give it access_log_settings."
package holdfast.aws.hf_aws_040

import data.holdfast.lib

types := {"aws_api_gateway_stage", "aws_apigatewayv2_stage"}

deny contains lib.finding(c, "its access log is off") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "access_log_settings")
	count(lib.list(after, "access_log_settings")) == 0
}
