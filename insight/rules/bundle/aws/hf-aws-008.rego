# METADATA
# title: "A network ACL lets everything in"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/network_acl_rule
# custom:
#   id: HF-AWS-008
#   severity: medium
#   kind: networking
#   types:
#   - aws_network_acl_rule
#   recommendation: "Name the protocols and addresses that are needed."
package holdfast.aws.hf_aws_008

import data.holdfast.lib

deny contains lib.finding(c, "it allows every protocol from the whole world") if {
	some c in input.resource_changes
	c.type == "aws_network_acl_rule"
	after := c.change.after
	is_object(after)
	after.rule_action == "allow"
	not after.egress == true
	after.protocol in {"-1", "all", -1}
	lib.world(after.cidr_block)
}
