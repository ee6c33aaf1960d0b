# METADATA
# title: "A load balancer speaks HTTP"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/lb_listener
# custom:
#   id: HF-AWS-027
#   severity: medium
#   kind: encryption
#   types:
#   - aws_lb_listener
#   - aws_alb_listener
#   recommendation: "Listen with HTTPS, and only redirect from HTTP."
package holdfast.aws.hf_aws_027

import data.holdfast.lib

types := {"aws_lb_listener", "aws_alb_listener"}

deny contains lib.finding(c, "it takes requests that are not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	after.protocol == "HTTP"
	every action in lib.list(after, "default_action") { action.type != "redirect" }
}
