# METADATA
# title: "A trail records nothing"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/cloudtrail
# custom:
#   id: HF-AWS-035
#   severity: high
#   kind: logging
#   types:
#   - aws_cloudtrail
#   recommendation: "Set enable_logging to true."
package holdfast.aws.hf_aws_035

import data.holdfast.lib

deny contains lib.finding(c, "its logging is turned off") if {
	some c in input.resource_changes
	c.type == "aws_cloudtrail"
	after := c.change.after
	is_object(after)
	after.enable_logging == false
}
