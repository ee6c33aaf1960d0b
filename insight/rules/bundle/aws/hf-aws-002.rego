# METADATA
# title: "RDP is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/security_group
# custom:
#   id: HF-AWS-002
#   severity: high
#   kind: networking
#   types:
#   - aws_security_group
#   - aws_security_group_rule
#   - aws_vpc_security_group_ingress_rule
#   - aws_default_security_group
#   recommendation: "Restrict RDP access to known address ranges."
package holdfast.aws.hf_aws_002

import data.holdfast.lib

types := {"aws_security_group", "aws_security_group_rule", "aws_vpc_security_group_ingress_rule", "aws_default_security_group"}

deny contains lib.finding(c, "ingress allows the whole world on port 3389") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	some rule in lib.aws_ingress(c)
	lib.aws_world(rule)
	lib.aws_port(rule, 3389)
	not lib.aws_all(rule)
}
