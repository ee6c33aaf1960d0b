# METADATA
# title: "Every port is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/security_group
# custom:
#   id: HF-AWS-003
#   severity: critical
#   kind: networking
#   types:
#   - aws_security_group
#   - aws_security_group_rule
#   - aws_vpc_security_group_ingress_rule
#   - aws_default_security_group
#   recommendation: "Name the ports and addresses that are needed."
package holdfast.aws.hf_aws_003

import data.holdfast.lib

types := {"aws_security_group", "aws_security_group_rule", "aws_vpc_security_group_ingress_rule", "aws_default_security_group"}

deny contains lib.finding(c, "ingress allows the whole world on every port") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	some rule in lib.aws_ingress(c)
	lib.aws_world(rule)
	lib.aws_all(rule)
}
