# METADATA
# title: "An instance gets a public address"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/instance
# custom:
#   id: HF-AWS-005
#   severity: medium
#   kind: networking
#   types:
#   - aws_instance
#   - aws_launch_template
#   - aws_launch_configuration
#   recommendation: "Put it into a private subnet behind a load balancer."
package holdfast.aws.hf_aws_005

import data.holdfast.lib

types := {"aws_instance", "aws_launch_template", "aws_launch_configuration"}

deny contains lib.finding(c, "it gets a public address") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	lib.on(c, "associate_public_ip_address")
}

deny contains lib.finding(c, "it gets a public address") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some nic in lib.list(after, "network_interfaces")
	lib.yes(nic.associate_public_ip_address)
}
