# METADATA
# title: "A load balancer keeps no access log"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/lb
# custom:
#   id: HF-AWS-038
#   severity: low
#   kind: logging
#   types:
#   - aws_lb
#   - aws_alb
#   - aws_elb
#   recommendation: "Turn access_logs on, to a bucket."
package holdfast.aws.hf_aws_038

import data.holdfast.lib

types := {"aws_lb", "aws_alb", "aws_elb"}

deny contains lib.finding(c, "its access log is off") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "access_logs")
	not lib.enabled(after, "access_logs")
}
