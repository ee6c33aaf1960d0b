# METADATA
# title: "A distribution keeps no access log"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/cloudfront_distribution
# custom:
#   id: HF-AWS-039
#   severity: low
#   kind: logging
#   types:
#   - aws_cloudfront_distribution
#   recommendation: "Give it a logging_config."
package holdfast.aws.hf_aws_039

import data.holdfast.lib

deny contains lib.finding(c, "its access log is off") if {
	some c in input.resource_changes
	c.type == "aws_cloudfront_distribution"
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "logging_config")
	count(lib.list(after, "logging_config")) == 0
}
