# METADATA
# title: "A database port is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/security_group
# custom:
#   id: HF-AWS-004
#   severity: high
#   kind: networking
#   types:
#   - aws_security_group
#   - aws_security_group_rule
#   - aws_vpc_security_group_ingress_rule
#   - aws_default_security_group
#   recommendation: "Allow the security group of the application instead of addresses."
package holdfast.aws.hf_aws_004

import data.holdfast.lib

types := {"aws_security_group", "aws_security_group_rule", "aws_vpc_security_group_ingress_rule", "aws_default_security_group"}

deny contains lib.finding(c, "ingress allows the whole world on a port of databases") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	some rule in lib.aws_ingress(c)
	lib.aws_world(rule)
	some port in {1433, 1521, 3306, 5432, 6379, 9200, 11211, 27017}
	lib.aws_port(rule, port)
	not lib.aws_all(rule)
}
