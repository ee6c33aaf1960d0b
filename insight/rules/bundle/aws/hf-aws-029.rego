# METADATA
# title: "A distribution speaks HTTP"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/cloudfront_distribution
# custom:
#   id: HF-AWS-029
#   severity: medium
#   kind: encryption
#   types:
#   - aws_cloudfront_distribution
#   recommendation: "Set viewer_protocol_policy to redirect-to-https."
package holdfast.aws.hf_aws_029

import data.holdfast.lib

deny contains lib.finding(c, "it takes requests that are not encrypted") if {
	some c in input.resource_changes
	c.type == "aws_cloudfront_distribution"
	after := c.change.after
	is_object(after)
	some behaviour in lib.list(after, "default_cache_behavior")
	behaviour.viewer_protocol_policy == "allow-all"
}
